from __future__ import annotations

import pytest

from simdist.comm import ALGORITHMS, Algorithm
from simdist.comm.bruck import bruck_all_to_all
from simdist.comm.promise import keep, promise
from simdist.comm.rehearsal import rehearse


@pytest.mark.parametrize("size", range(1, 18))
def test_blocks_arrive_in_few_rounds(size: int) -> None:
    row = Algorithm("bruck_all_to_all", "all_to_all", bruck_all_to_all)
    seen = rehearse(row, size)
    keep(row.name, seen, promise("all_to_all", size, 0, size * size))
    assert len(seen.rounds) == (size - 1).bit_length()
    assert len(rehearse(ALGORITHMS["bruck_all_gather"], size).rounds) == (size - 1).bit_length()


def test_a_block_travels_once_for_each_bit_of_its_distance() -> None:
    seen = rehearse(Algorithm("bruck_all_to_all", "all_to_all", bruck_all_to_all), 8)
    hops = [chunk for e in seen.exchanges() for chunk in e.chunks]
    assert all(hops.count(chunk) == ((chunk % 8 - chunk // 8) % 8).bit_count() for chunk in range(64))


@pytest.mark.parametrize("size", range(1, 18))
def test_the_same_backwards_is_a_reduce_scatter(size: int) -> None:
    """ceil(log2 p) rounds, and every rank sends each chunk but its own once."""
    for name, ways in (("bruck_reduce_scatter", 1), ("bruck_all_reduce", 2)):
        seen = rehearse(ALGORITHMS[name], size)
        assert len(seen.rounds) == ways * (size - 1).bit_length()
        for rank in range(size):
            assert sum(len(e.chunks) for e in seen.exchanges() if e.src == rank) == ways * (size - 1)
