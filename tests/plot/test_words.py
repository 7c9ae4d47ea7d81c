"""Are the words on areas the right ones, and never wider than their area?"""

from __future__ import annotations

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simdist.plot.palette import INK, KINDS
from simdist.plot.pieces import Piece
from simdist.plot.timeline import Row, timeline
from simdist.plot.words import texts, write_words
from simdist.trace import Trace

ROW = Row(0, "main", 0.0, 0.6)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (Piece("forward", False, 0, 1), ("forward", "F")),
        (Piece("communication", False, 0, 1, "all_reduce #3"), ("all_reduce #3", "all_reduce", "C")),
        (Piece("communication", False, 0, 1), ("", "", "C")),
        (Piece("wait", False, 0, 1, "x", {"for": [12]}), ("waits for rank 12", "for rank 12", "for 12", "w")),
        (Piece("wait", False, 0, 1, "x", {"for": [1, 2]}), ("w",)),
        (Piece("wait", False, 0, 1), ("w",)),
        (Piece("compute", False, 0, 1, "tokenize"), ("tokenize", "X")),
        (Piece("compute", False, 0, 1), ("other computing", "X")),
        (Piece("idle", False, 0, 1), ("done", "")),
    ],
)
def test_what_may_be_written(run: Piece, expected: tuple[str, ...]) -> None:
    assert texts(run) == expected


def written(*areas: Piece, seconds_per_pixel: float = 0.01, unit: float = 100.0, row: Row = ROW) -> Axes:
    ax = Figure(dpi=100).subplots()
    write_words(ax, {row: list(areas)}, seconds_per_pixel, unit)
    return ax


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_the_longest_that_fits() -> None:
    reduce = Piece("communication", False, 0, 2, "all_reduce #3")
    assert words(written(reduce)) == ["all_reduce #3"]
    assert words(written(reduce, seconds_per_pixel=0.025)) == ["all_reduce"]
    assert words(written(reduce, seconds_per_pixel=0.1)) == ["C"]
    assert words(written(reduce, seconds_per_pixel=1.0)) == []


def test_flat_rows_and_streams_have_no_words() -> None:
    forward = Piece("forward", False, 0, 2)
    assert words(written(forward, unit=10.0)) == []
    assert words(written(forward, row=Row(0, "comm:0", 0.0, 0.6))) == []


def test_ink_suits_the_ground() -> None:
    solid, pale = Piece("forward", False, 0, 2), Piece("forward", True, 0, 2)
    assert written(solid).texts[0].get_color() == KINDS["forward"].ink
    assert written(pale).texts[0].get_color() == INK


def test_hatched_ground_gets_a_white_box() -> None:
    assert written(Piece("communication", False, 0, 2, "x #0")).texts[0].get_bbox_patch() is not None
    assert written(Piece("forward", False, 0, 2)).texts[0].get_bbox_patch() is None


def test_words_stand_in_the_middle() -> None:
    assert written(Piece("backward", False, 1, 4)).texts[0].get_position() == (2.5, 0.3)


def test_of_very_many_the_widest_are_written() -> None:
    areas = [Piece("communication", False, i, i + 0.5 + i / 4000, f"x #{i}") for i in range(1000)]
    found = words(written(*areas, seconds_per_pixel=0.01))
    assert len(found) == 500
    assert "x #999" in found
    assert "x #0" not in found


def test_of_very_many_letters_whole_rows_are_written() -> None:
    spans = [
        (rank, "main", "communication", f"x #{i}", float(i), i + 1.0, None) for rank in range(32) for i in range(20)
    ]
    ax = timeline(Trace(spans, world_size=32, end=20.0))
    per_row: dict[float, int] = {}
    for text in ax.texts:
        per_row[text.get_position()[1]] = per_row.get(text.get_position()[1], 0) + 1
    assert len(per_row) == 16 and set(per_row.values()) == {20}
