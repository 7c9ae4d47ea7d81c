"""Where does the legend stand? Between the title and the data, in as many lines as it needs.

Beside the data it would take width, which is time; below them it would meet the labels of the axis; on them it would hide what
it explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simdist.plot.caption import fold
from simdist.plot.palette import INK

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["expected_width", "legend_above"]

_FONT, _TITLE = 7.5, 9.5
"""Points."""

_LETTER = 0.56
"""Mean width of a letter in units of the font size (DejaVu Sans)."""

_OVERHANG = 1.1
"""A title may reach a little into the margin at the right of the axes."""

_HANDLE, _GAP, _SPACE = 1.6, 0.4, 1.1
"""Widths of a sample, of the gap after it, and of the space between columns, in units of the font size."""

_FILLED = 0.9
"""The share of a column's width that a layout engine gives to the axes themselves."""

_LINE = 12.5
"""Points from line to line."""


def legend_above(ax: Axes, entries: Sequence[Artist], title: str) -> None:
    """Put a legend over the axes, and the title above it.

    Args:
        ax: axes.
        entries: artists with labels, in reading order; without any there is only the title.
        title: words of which the parts are divided by `` · ``; they go on the next line where the width is at its end.
    """
    figure = ax.figure
    assert figure is not None
    points = expected_width(ax) * 72 / figure.dpi
    title = fold(title, int(_OVERHANG * points / _TITLE / _LETTER))
    if not entries:
        ax.set_title(title, fontsize=_TITLE, loc="left", color=INK)
        return
    room = points / _FONT
    columns = _columns([len(str(entry.get_label())) * _LETTER + _HANDLE + _GAP for entry in entries], room)
    lines = -(-len(entries) // columns)
    in_order = [entry for column in range(columns) for entry in list(entries)[column::columns]]
    ax.legend(
        handles=in_order, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, fontsize=_FONT, frameon=False,
        borderaxespad=0.2, borderpad=0.2, handlelength=_HANDLE, handletextpad=_GAP, columnspacing=_SPACE,
    )  # fmt: skip
    ax.set_title(title, fontsize=_TITLE, loc="left", color=INK, pad=11 + _LINE * lines)


def expected_width(ax: Axes) -> float:
    """How many pixels wide the axes will be: a layout engine widens them when it first draws them."""
    figure = ax.figure
    assert figure is not None
    now = float(ax.get_window_extent().width)
    place = ax.get_subplotspec()
    if place is None or figure.get_layout_engine() is None:
        return now
    return max(now, _FILLED * float(figure.bbox.width) / place.get_gridspec().ncols)


def _columns(widths: Sequence[float], room: float) -> int:
    """The largest number of columns that fits: each column is as wide as its widest entry."""
    for columns in range(len(widths), 1, -1):
        if sum(max(widths[column::columns]) + _SPACE for column in range(columns)) <= room:
            return columns
    return 1
