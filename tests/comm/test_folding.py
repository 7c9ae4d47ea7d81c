from __future__ import annotations

import pytest

from simdist.comm.folding import fold, largest_power, place_of, rank_at, unfold


@pytest.mark.parametrize("size", range(1, 18))
def test_places_and_ranks_are_one_to_one(size: int) -> None:
    places = [place_of(rank, size) for rank in range(size)]
    taking_part = [place for place in places if place is not None]
    assert taking_part == list(range(largest_power(size)))
    assert [rank_at(place, size) for place in taking_part] == [r for r, place in enumerate(places) if place is not None]


def test_five_ranks_have_one_pair() -> None:
    assert [str(step) for step in fold(0, 5, (0,))] == ["send 0 to 1"]
    assert [str(step) for step in fold(1, 5, (0,))] == ["combine 0 from 0"]
    assert list(fold(2, 5, (0,))) == []
    assert [str(step) for step in unfold(0, 5, (0,))] == ["recv 0 from 1"]
