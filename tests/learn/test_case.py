from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from simdist.learn.case import Case


def test_a_case_says_its_world_and_its_buffer() -> None:
    assert str(Case(8, 10, 1)) == "p = 8"
    assert str(Case(8, 10, 1, nbytes=64_000_000)) == "p = 8, n = 64 MB"
    assert str(Case(64, 10, 1, nbytes=64_000_000, per_node=8)) == "p = 64 in nodes of 8, n = 64 MB"


def test_a_case_is_a_value() -> None:
    case = Case(2, 5, 1)
    assert case == Case(2, 5, 1)
    assert case != Case(2, 5, 2)
    assert len({case, Case(2, 5, 1)}) == 1
    with pytest.raises(FrozenInstanceError):
        case.size = 3  # type: ignore[misc]
