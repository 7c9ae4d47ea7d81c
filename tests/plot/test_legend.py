"""Does the legend keep clear of the data and of the title, however narrow the picture is?"""

from __future__ import annotations

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from simdist.plot.legend import expected_width, legend_above

NAMES = ["forward (F)", "backward (B)", "optimizer (O)", "communication (C)", "waiting for a rank (w)", "pale: launch"]


def made(width: float) -> Axes:
    ax = Figure(figsize=(width, 3)).subplots()
    legend_above(ax, [Patch(label=name) for name in NAMES], "title · of two parts")
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    return ax


@pytest.mark.parametrize("width", [9.0, 6.4, 4.0, 2.5])
def test_it_is_over_the_data_under_the_title_and_inside_the_width(width: float) -> None:
    ax = made(width)
    legend = ax.get_legend()
    assert legend is not None
    box, data = legend.get_window_extent(), ax.get_window_extent()
    title = ax._left_title.get_window_extent()  # type: ignore[attr-defined]
    assert box.y0 >= data.y1 - 1
    assert title.y0 >= box.y1 - 1
    assert box.x1 <= data.x1 + 0.1 * data.width


def test_it_is_one_line_where_there_is_room_and_more_where_not() -> None:
    def height(width: float) -> float:
        legend = made(width).get_legend()
        assert legend is not None
        return float(legend.get_window_extent().height)

    assert height(11.0) < 20 < height(4.0) < height(2.5)


def test_entries_are_read_line_by_line() -> None:
    legend = made(4.0).get_legend()
    assert legend is not None
    places = {text.get_text(): text.get_window_extent() for text in legend.get_texts()}
    assert places[NAMES[1]].y0 == pytest.approx(places[NAMES[0]].y0, abs=2)
    assert places[NAMES[-1]].y0 < places[NAMES[0]].y0 - 5


def test_nothing_to_explain_is_no_legend() -> None:
    ax = Figure().subplots()
    legend_above(ax, [], "title")
    assert ax.get_legend() is None
    assert ax.get_title(loc="left") == "title"


def test_the_title_is_broken_where_the_width_ends() -> None:
    assert made(9.0).get_title(loc="left") == "title · of two parts"
    assert made(1.2).get_title(loc="left") == "title\nof two parts"


@pytest.mark.parametrize("columns", [1, 2])
def test_the_width_that_a_layout_engine_will_give_is_foreseen(columns: int) -> None:
    figure = Figure(figsize=(9, 4), layout="constrained")
    ax = figure.subplots(2, columns, squeeze=False)[0, 0]
    foreseen = expected_width(ax)
    figure.draw_without_rendering()
    assert foreseen == pytest.approx(ax.get_window_extent().width, rel=0.1)


def test_without_a_layout_engine_the_width_is_what_it_is() -> None:
    ax = Figure().subplots()
    assert expected_width(ax) == ax.get_window_extent().width
