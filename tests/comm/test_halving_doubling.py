from __future__ import annotations

import pytest

from simdist.comm import ALGORITHMS
from simdist.comm.rehearsal import rehearse


@pytest.mark.parametrize(("size", "rounds"), [(1, 0), (2, 2), (8, 6), (16, 8), (5, 6), (13, 8)])
def test_the_number_of_rounds(size: int, rounds: int) -> None:
    """2 log2(p), and two more if p is no power of two."""
    assert len(rehearse(ALGORITHMS["halving_doubling_all_reduce"], size).rounds) == rounds


@pytest.mark.parametrize("size", [2, 4, 8, 16])
def test_a_rank_sends_what_a_ring_sends(size: int) -> None:
    seen = rehearse(ALGORITHMS["halving_doubling_all_reduce"], size)
    for rank in range(size):
        assert sum(len(e.chunks) for e in seen.exchanges() if e.src == rank) == 2 * (size - 1)


@pytest.mark.parametrize("name", ["recursive_halving_reduce_scatter", "recursive_doubling_all_gather"])
@pytest.mark.parametrize(("size", "rounds"), [(1, 0), (2, 1), (8, 3), (16, 4), (5, 4), (13, 5)])
def test_each_half_is_a_collective(name: str, size: int, rounds: int) -> None:
    """log2(p) rounds in which a rank sends every chunk but its own once; two more rounds if p is no power of two."""
    seen = rehearse(ALGORITHMS[name], size)
    assert len(seen.rounds) == rounds
    if size & (size - 1) == 0:
        for rank in range(size):
            assert sum(len(e.chunks) for e in seen.exchanges() if e.src == rank) == size - 1
