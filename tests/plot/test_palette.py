"""Can everything in a picture be told apart, with any eyes?"""

from __future__ import annotations

import pytest

from simdist.plot.palette import INK, KINDS, MEMORY, MUTED, OKABE_ITO, Look, contrast, darker, paler
from simdist.tensor.observe import MEMORY_KINDS
from simdist.trace import span
from simdist.trace.breakdown import PARTS


def test_every_kind_of_span_has_a_look() -> None:
    assert set(KINDS) == set(span.KINDS)
    assert list(PARTS)[:4] == list(KINDS)[:4]


def test_every_class_of_memory_has_a_look() -> None:
    assert set(MEMORY) == set(MEMORY_KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_letters_are_readable_on_their_ground(kind: str) -> None:
    look = KINDS[kind]
    assert contrast(look.ink, look.color) >= 4.5
    assert contrast(INK, paler(look.color)) >= 4.5


def test_letters_are_unique() -> None:
    letters = [look.letter for look in KINDS.values() if look.letter]
    assert len(letters) == len(set(letters))
    assert (KINDS["forward"].letter, KINDS["backward"].letter, KINDS["communication"].letter) == ("F", "B", "C")


@pytest.mark.parametrize("table", [KINDS, MEMORY], ids=["kinds", "memory"])
def test_no_two_look_alike(table: dict[str, Look]) -> None:
    assert len({(look.color, look.hatch) for look in table.values()}) == len(table)
    assert len({look.label for look in table.values()}) == len(table)


def test_communication_is_hatched_everywhere() -> None:
    assert KINDS["communication"].hatch
    assert MEMORY["buckets"].hatch


def test_contrast_is_wcags() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert contrast("#123456", "#123456") == 1
    assert contrast("#FFFFFF", OKABE_ITO["blue"]) == pytest.approx(5.2, abs=0.05)
    assert contrast("#000000", OKABE_ITO["yellow"]) == pytest.approx(15.9, abs=0.1)


def test_words_are_readable_on_white() -> None:
    assert contrast(INK, "#FFFFFF") >= 7
    assert contrast(MUTED, "#FFFFFF") >= 4.5


def test_tones() -> None:
    assert paler("#000000") == "#A3A3A3"
    assert paler("#FFFFFF") == "#FFFFFF"
    assert darker("#000000") == "#000000"
    assert darker("#FF0080") == "#9E004F"
