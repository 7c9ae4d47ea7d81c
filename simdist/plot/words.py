"""What is written on the areas of the timeline?

The longest of a few texts that fits: ``all_reduce #3``, ``all_reduce``, ``C``, or nothing. Waits name the rank that they are
for. Widths are estimated from the number of letters, because asking for each text's true width takes most of the time of a
picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from simdist.plot.palette import INK, KINDS
from simdist.plot.pieces import Piece, runs
from simdist.trace.span import MAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simdist.plot.timeline import Row

__all__ = ["texts", "write_words"]

_FONT = 7.5
_BOXED = ("communication", "sleep", "idle")
"""Kinds whose letters need a ground: there is a hatch, or an arrow may pass."""

_MAX_LETTERS = 500


def write_words(ax: Axes, areas: Mapping[Row, Sequence[Piece]], per_pixel: float, unit: float) -> None:
    """Write into each run what it is, in full where there is room, on every second (third ...) row if they are very many.

    Args:
        ax: axes.
        areas: what was drawn.
        per_pixel: seconds per pixel.
        unit: pixels per unit of height.
    """
    figure = ax.figure
    assert figure is not None
    point = figure.dpi / 72
    wanted: list[tuple[float, float, float, str, str, bool]] = []
    for row, found in areas.items():
        if row.stream != MAIN or row.height * unit < 1.1 * _FONT * point:
            continue
        for run in runs(found):
            look = KINDS[run.kind]
            room = (run.end - run.start) / per_pixel / (0.62 * _FONT * point)
            text = next((text for text in texts(run) if text and len(text) + 0.6 <= room), None)
            if text is not None:
                middle = (run.start + run.end) / 2
                ink = INK if run.pale else look.ink
                wanted.append((run.end - run.start, middle, row.middle, text, ink, run.kind in _BOXED))
    if (
        len(wanted) > _MAX_LETTERS
    ):  # whole rows, evenly chosen: a choice among equals would look as if it meant something
        heights = sorted({item[2] for item in wanted})
        chosen = frozenset(heights[:: -(-len(wanted) // _MAX_LETTERS)])
        wanted = [item for item in wanted if item[2] in chosen]
    wanted.sort(key=lambda item: -item[0])
    for _, x, y, text, ink, boxed in wanted[:_MAX_LETTERS]:
        label = ax.text(x, y, text, color=ink, fontsize=_FONT, ha="center", va="center", clip_on=True, zorder=5)
        if boxed:
            label.set_bbox({"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 0.6})


def texts(run: Piece) -> tuple[str, ...]:
    """What may be written on a run, the longest first."""
    look = KINDS[run.kind]
    if run.kind == "communication":
        return (run.name, run.name.partition(" #")[0], look.letter)
    if run.kind == "wait":
        blamed: list[int] = list((run.details or {}).get("for") or ())
        if len(blamed) == 1:
            return (f"waits for rank {blamed[0]}", f"for rank {blamed[0]}", f"for {blamed[0]}", look.letter)
        return (look.letter,)
    if run.kind == "compute" and run.name:
        return (run.name, look.letter)
    return (look.label, look.letter)
