from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
from simdist.conformance.programs.program import numbers
from simdist.conformance.programs.training import PROGRAMS

BY_NAME = {program.name: program for program in PROGRAMS}


def test_all_ranks_end_with_the_same_weights():
    first, second = sd.run(BY_NAME["training: data parallel"].fn, world_size=2).results
    assert len(first) == 5
    assert all(np.array_equal(a, b) for a, b in zip(first[1:], second[1:], strict=True))
    assert first[0] != second[0]


def test_gradients_are_those_of_the_sum():
    """x is added over p ranks, each part is gathered by all: the gradient of rank 0's x is that of the whole formula."""
    p = 2
    results = sd.run(BY_NAME["training: gradients that cross collectives"].fn, world_size=p).results
    total = sum(numbers(rank, 2 * p) for rank in range(p))
    for rank, (loss, _) in enumerate(results):
        # the parts are the reduction over p equal totals: p * total
        assert loss == pytest.approx((rank + 1) * np.sum((p * total) ** 2))
    weight = sum(range(1, p + 1))
    assert results[0][1] == pytest.approx(2 * weight * p * p * total * 1.0)


def test_shapes_are_those_of_the_model():
    results = sd.run(BY_NAME["training: shapes only"].fn, world_size=2, device="meta").results
    assert results[0] == results[1]
    assert [64, 32] in results[0] or [32, 64] in results[0]
