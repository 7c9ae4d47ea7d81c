from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, ARITHMETIC, ReduceOp, definitions, plan
from simdist.comm.chunks import bounds

SIZES = [1, 2, 3, 4, 5, 8, 9]
LENGTHS = [0, 1, 2, 7, 8, 9, 40]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("op", ARITHMETIC)
def test_all_reduce_is_the_definition(play, numbers, size: int, length: int, op: ReduceOp) -> None:
    buffers = numbers(size, length)
    expected = definitions.all_reduce(buffers, op)
    play("ring_all_reduce", buffers, op=op)
    for buffer, wanted in zip(buffers, expected, strict=True):
        np.testing.assert_allclose(buffer, wanted, rtol=1e-12, atol=1e-13)
        assert buffer.tobytes() == buffers[0].tobytes(), "every rank ends with the same bits"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("length", LENGTHS)
def test_reduce_scatter_leaves_each_rank_its_chunk(play, numbers, size: int, length: int) -> None:
    buffers = numbers(size, length)
    expected = definitions.reduce(buffers)
    play("ring_reduce_scatter", buffers)
    cuts = bounds(length, size)
    for rank, buffer in enumerate(buffers):
        mine = slice(cuts[rank], cuts[rank + 1])
        np.testing.assert_allclose(buffer[mine], expected[mine], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("length", LENGTHS)
def test_all_gather_spreads_each_rank_s_chunk(play, numbers, size: int, length: int) -> None:
    cuts = bounds(length, size)
    buffers = numbers(size, length)
    expected = np.concatenate([buffers[rank][cuts[rank] : cuts[rank + 1]] for rank in range(size)])
    play("ring_all_gather", buffers)
    assert all(buffer.tobytes() == expected.tobytes() for buffer in buffers)


@pytest.mark.parametrize("size", [2, 3, 8])
def test_every_rank_sends_the_least_possible_to_its_right_neighbour(play, numbers, size: int) -> None:
    length = 12 * size
    sent = play("ring_all_reduce", numbers(size, length))
    assert all(dst == (src + 1) % size for src, dst, _ in sent)
    elements: Counter[int] = Counter()
    for src, _, count in sent:
        elements[src] += count
    assert set(elements.values()) == {2 * (size - 1) * length // size}


@pytest.mark.parametrize("size", SIZES)
def test_the_number_of_rounds(size: int) -> None:
    rounds = {
        name: sum(step.send is not None for step in plan(ALGORITHMS[name], 0, size))
        for name in ("ring_reduce_scatter", "ring_all_gather", "ring_all_reduce")
    }
    assert rounds == {"ring_reduce_scatter": size - 1, "ring_all_gather": size - 1, "ring_all_reduce": 2 * (size - 1)}


def test_a_rank_finishes_its_own_chunk_once() -> None:
    for rank in range(5):
        assert [step.finish for step in plan(ALGORITHMS["ring_all_reduce"], rank, 5) if step.finish] == [(rank,)]
