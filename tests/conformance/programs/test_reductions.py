"""The programs show what they are about: sums by numpy, and every algorithm is tried."""

from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
from simdist.comm.algorithm import ALGORITHMS, DEFAULT
from simdist.conformance.programs.program import numbers
from simdist.conformance.programs.reductions import PROGRAMS

BY_NAME = {program.name: program for program in PROGRAMS}


def test_every_algorithm_that_is_not_the_usual_one_is_tried():
    tried = {name for program in PROGRAMS for name in program.options.get("algorithms", {}).values()}
    assert tried == {row.name for row in ALGORITHMS.values()} - {row.name for row in DEFAULT.values()}


def test_sums_are_right():
    results = sd.run(BY_NAME["all_reduce: every reduction, dtype and length"].fn, world_size=3).results
    averages = [np.mean([numbers(r, n, np.float32) for r in range(3)], axis=0) for n in (0, 1, 2, 3, 4)]
    for rank in range(3):
        for found, expected in zip(results[rank], averages, strict=False):
            assert found == pytest.approx(expected, rel=1e-5)
    kinds = {array.dtype.kind for array in results[0]}
    assert kinds == set("fiubc")


def test_other_algorithms_give_the_same_up_to_the_order_of_additions():
    others = [p for p in PROGRAMS if "algorithms" in p.options]
    usual = sd.run(others[0].fn, world_size=4).results
    for program in others:
        found = sd.run(program.fn, world_size=4, **program.options).results
        assert all(np.allclose(a, b) for r, s in zip(found, usual, strict=True) for a, b in zip(r, s, strict=True))


def test_views_are_written_through():
    (scalar, empty, table), *_ = sd.run(
        BY_NAME["shapes: no dimension, no element, strided views"].fn, world_size=2
    ).results
    assert scalar == pytest.approx(1.2)
    assert empty.shape == (3, 0)
    once = np.array([numbers(r, 24).reshape(4, 6) for r in range(2)])
    assert table[0, 1] == pytest.approx(once[:, 0, 1].sum())
    assert table[0, 0] == pytest.approx(2 * once[:, 0, 0].sum())
