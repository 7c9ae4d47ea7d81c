from __future__ import annotations

import pytest

from simdist.comm import ALGORITHMS
from simdist.comm.rehearsal import rehearse


@pytest.mark.parametrize(
    ("name", "rounds"),
    [
        ("scatter_all_gather_broadcast", 3 + 7),
        ("reduce_scatter_gather_reduce", 7 + 3),
        ("star_all_reduce", 2 * 7),
        ("binomial_tree_all_reduce", 2 * 3),
    ],
)
def test_the_rounds_of_eight_ranks_are_at_most_those_of_the_parts(name: str, rounds: int) -> None:
    assert len(rehearse(ALGORITHMS[name], 8).rounds) <= rounds


@pytest.mark.parametrize("size", [2, 5, 8])
def test_the_root_of_a_long_broadcast_sends_less_than_twice_the_buffer(size: int) -> None:
    sent = [e for e in rehearse(ALGORITHMS["scatter_all_gather_broadcast"], size).exchanges() if e.src == 0]
    assert sum(len(e.chunks) for e in sent) <= 2 * (size - 1)
