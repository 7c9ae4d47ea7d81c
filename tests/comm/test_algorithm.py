from __future__ import annotations

import pytest

from simdist.comm import ALGORITHMS, DEFAULT, Algorithm, plan
from simdist.comm.algorithm import _CACHED_SIZE
from simdist.comm.layout import FLAT
from simdist.comm.rehearsal import rehearse

SIZES = range(1, 10)


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_every_message_has_two_ends_in_the_same_order(algorithm: Algorithm, size: int) -> None:
    """The k-th send from a to b names the chunk that the k-th receive of b from a names."""
    for root in range(size):
        plans = [plan(algorithm, rank, size, root) for rank in range(size)]
        for a in range(size):
            for b in range(size):
                sent = [step.send.chunks for step in plans[a] if step.send and step.send.peer == b]
                received = [step.recv.chunks for step in plans[b] if step.recv and step.recv.peer == a]
                assert sent == received, (algorithm.name, a, b)


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_nobody_blocks_when_sends_wait_for_their_receivers(algorithm: Algorithm, size: int) -> None:
    """A step ends when its send has been received and its receive sent; a rehearsal plays that, or says who is stuck."""
    for root in range(size):
        plans = [plan(algorithm, rank, size, root) for rank in range(size)]
        assert len(rehearse(algorithm, size, root).exchanges()) == sum(
            step.send is not None for p in plans for step in p
        )


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=str)
def test_the_flags_say_what_the_steps_do(algorithm: Algorithm) -> None:
    for size in (2, 3, 8):
        steps = [(rank, step) for rank in range(size) for step in plan(algorithm, rank, size)]
        moving = [(rank, step) for rank, step in steps if step.send or step.recv]
        if algorithm.symmetric:
            assert all(step.send and step.recv for _, step in moving)
        if algorithm.ring:
            assert all(step.send.peer == (rank + 1) % size for rank, step in moving if step.send)
        named = {
            chunk for _, step in moving for transfer in (step.send, step.recv) if transfer for chunk in transfer.chunks
        }
        assert named <= set(range(algorithm.pieces(size, FLAT)))


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=str)
def test_alone_there_is_nothing_to_send(algorithm: Algorithm) -> None:
    assert not any(step.send or step.recv for step in plan(algorithm, 0, 1))


def test_each_collective_has_its_one_algorithm() -> None:
    expected = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "gather", "scatter", "barrier"}
    expected |= {"all_to_all"}
    assert set(DEFAULT) == expected
    assert all(row.collective == name for name, row in DEFAULT.items())
    assert all(row.name == name for name, row in ALGORITHMS.items())


def test_plans_are_values_and_small_ones_are_kept() -> None:
    row = ALGORITHMS["ring_all_reduce"]
    assert plan(row, 1, 4) is plan(row, 1, 4)
    large = _CACHED_SIZE + 1
    assert plan(row, 1, large) == plan(row, 1, large)
    assert plan(row, 1, large) is not plan(row, 1, large)
