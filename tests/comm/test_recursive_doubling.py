from __future__ import annotations

import pytest

from simdist.comm import ALGORITHMS
from simdist.comm.rehearsal import rehearse


@pytest.mark.parametrize(("size", "rounds"), [(1, 0), (2, 1), (8, 3), (16, 4), (5, 4), (13, 5)])
def test_the_number_of_rounds(size: int, rounds: int) -> None:
    """log2(p), and two more if p is no power of two."""
    assert len(rehearse(ALGORITHMS["recursive_doubling_all_reduce"], size).rounds) == rounds


def test_all_ranks_combine_the_same_operands() -> None:
    seen = rehearse(ALGORITHMS["recursive_doubling_all_reduce"], 13)
    assert len({seen.final[rank, 0] for rank in range(13)}) == 1
