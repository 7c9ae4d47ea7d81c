from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.comm.chunks import bounds


@pytest.mark.parametrize(
    ("length", "parts", "expected"),
    [(8, 4, (0, 2, 4, 6, 8)), (7, 3, (0, 3, 5, 7)), (2, 4, (0, 1, 2, 2, 2)), (0, 2, (0, 0, 0)), (5, 1, (0, 5))],
)
def test_chunks_by_hand(length: int, parts: int, expected: tuple[int, ...]) -> None:
    assert bounds(length, parts) == expected


@given(st.integers(0, 10_000), st.integers(1, 200))
def test_chunks_cover_everything_and_differ_by_at_most_one(length: int, parts: int) -> None:
    cuts = bounds(length, parts)
    sizes = [b - a for a, b in pairwise(cuts)]
    assert (cuts[0], cuts[-1], len(sizes)) == (0, length, parts)
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@given(st.integers(0, 300), st.integers(1, 20))
def test_the_cuts_are_numpy_s(length: int, parts: int) -> None:
    assert [len(part) for part in np.array_split(np.arange(length), parts)] == list(np.diff(bounds(length, parts)))
