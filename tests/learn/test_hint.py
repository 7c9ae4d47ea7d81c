from __future__ import annotations

import pytest

from simdist.errors import UnknownNameError
from simdist.learn import exercises, hint

NAMES = [exercise.name for exercise in exercises()]


@pytest.mark.parametrize("name", NAMES)
def test_three_levels_that_differ(name: str) -> None:
    texts = [hint(name, level) for level in (1, 2, 3)]
    assert len(set(texts)) == 3
    assert [text.split(":")[0] for text in texts] == [f"Hint {level} of 3" for level in (1, 2, 3)]


def test_without_a_level_the_first_and_how_to_get_the_next() -> None:
    assert hint("exchange") == hint("exchange", 1)
    assert hint("exchange").endswith("Not enough? hint('exchange', 2)")
    assert hint("exchange", 2).endswith("Not enough? hint('exchange', 3)")
    assert "Not enough" not in hint("exchange", 3)


def test_asking_again_gives_the_same() -> None:
    assert hint("exchange") == hint("exchange")


def test_a_notebook_shows_it_without_quotes() -> None:
    assert repr(hint("exchange")) == str(hint("exchange"))
    assert isinstance(hint("exchange"), str)


@pytest.mark.parametrize("level", [0, 4, True, "2"])
def test_other_levels_are_refused(level: object) -> None:
    with pytest.raises(ValueError, match=r"the levels are 1 \(a question\), 2 \(the idea\), 3 \(nearly the solution\)"):
        hint("exchange", level)  # type: ignore[arg-type]


def test_an_unknown_exercise() -> None:
    with pytest.raises(UnknownNameError, match="there is no exercise named 'exchang'"):
        hint("exchang")
