from __future__ import annotations

import math

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, ARITHMETIC, ReduceOp, definitions, plan

SIZES = [1, 2, 3, 4, 5, 7, 8, 9]


@pytest.mark.parametrize("size", SIZES)
def test_broadcast_from_any_root(play, numbers, size: int) -> None:
    for root in range(size):
        buffers = numbers(size, 5)
        expected = definitions.broadcast(buffers, root)
        sent = play("binomial_broadcast", buffers, root=root)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(buffers, expected, strict=True))
        assert len(sent) == size - 1, "everybody but the root receives once"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("op", ARITHMETIC)
def test_reduce_to_any_root(play, numbers, size: int, op: ReduceOp) -> None:
    for root in range(size):
        buffers = numbers(size, 5)
        expected = definitions.reduce(buffers, op)
        sent = play("binomial_reduce", buffers, root=root, op=op)
        np.testing.assert_allclose(buffers[root], expected, rtol=1e-12, atol=1e-13)
        assert len(sent) == size - 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["binomial_broadcast", "binomial_reduce"])
def test_nobody_takes_part_in_more_than_log2_rounds(name: str, size: int) -> None:
    limit = math.ceil(math.log2(size)) if size > 1 else 0
    for rank in range(size):
        steps = [step for step in plan(ALGORITHMS[name], rank, size, 1 % size) if step.send or step.recv]
        assert len(steps) <= limit


def test_the_tree_of_eight_by_hand() -> None:
    sends = {
        rank: [step.send.peer for step in plan(ALGORITHMS["binomial_broadcast"], rank, 8) if step.send]
        for rank in range(8)
    }
    assert sends == {0: [4, 2, 1], 1: [], 2: [3], 3: [], 4: [6, 5], 5: [], 6: [7], 7: []}


def test_reduce_is_the_tree_backwards() -> None:
    for size in SIZES:
        down = {
            (r, s.send.peer) for r in range(size) for s in plan(ALGORITHMS["binomial_broadcast"], r, size) if s.send
        }
        up = {(s.send.peer, r) for r in range(size) for s in plan(ALGORITHMS["binomial_reduce"], r, size) if s.send}
        assert down == up
