"""Where did each rank's time go? One bar per rank, stacked from the parts of its time.

All bars are equally long: the parts of a rank sum to the time of the run. Work is at the left, what is not work at the
right, so that the length of the left part is the efficiency of the rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simdist.errors import TraceError
from simdist.plot import caption
from simdist.plot.legend import legend_above
from simdist.plot.palette import GRID, INK, KINDS, MUTED, darker
from simdist.trace.breakdown import PARTS, Breakdown
from simdist.trace.trace import NOTHING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MAX_BARS", "breakdown", "shown"]

MAX_BARS = 32
"""With more ranks, those with the most and those with the least work are drawn."""

_WORK = ("forward", "backward", "optimizer", "compute")
_FONT = 7.5
_VISIBLE = 0.0005
"""A part that is a smaller share than this on all ranks is less than half a pixel."""


def shown(found: Breakdown) -> dict[str, dict[str, float]]:
    """The bars: a name and the parts in seconds. The mean first, then the ranks; of many the busiest and the idlest half.

    Args:
        found: the parts of each rank.
    """
    ranks = list(range(len(found.parts)))
    if len(ranks) > MAX_BARS:
        work = [sum(parts.get(kind, 0.0) for kind in _WORK) for parts in found.parts]
        order = sorted(ranks, key=lambda rank: (-work[rank], rank))
        ranks = sorted(order[: MAX_BARS // 2] + order[-(MAX_BARS // 2) :])
    bars = {f"rank {rank}": dict(found.parts[rank]) for rank in ranks}
    return ({"mean": found.mean} if len(found.parts) > 1 else {}) | bars


def breakdown(found: Breakdown, ax: Axes | None = None, title: str = "Where the time went") -> Axes:
    """Draw the parts of each rank's time.

    Args:
        found: the parts of each rank.
        ax: matplotlib axes, or None for a new figure.
        title: the beginning of the title.

    Returns:
        The axes; seconds to the right, one bar per rank.

    Raises:
        TraceError: nothing happened in the run.
    """
    if not any(found.parts):
        raise TraceError(f"there is no breakdown to draw: {NOTHING}.")
    bars = shown(found)
    ax = _axes(len(bars)) if ax is None else ax
    names = list(bars)
    left = [0.0] * len(names)
    end = found.end or 1.0
    for kind in PARTS:
        widths = [bars[name].get(kind, 0.0) for name in names]
        if max(widths, default=0.0) < _VISIBLE * end:
            continue
        look = KINDS[kind]
        drawn = ax.barh(
            range(len(names)), widths, left=left, height=0.72, color=look.color, edgecolor=darker(look.color),
            linewidth=0.4, hatch=look.hatch or None, label=look.label,
        )  # fmt: skip
        texts = [f"{width / end:.0%}" if width >= 0.045 * end else "" for width in widths]
        box = {"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 0.6} if look.hatch else None
        ax.bar_label(drawn, texts, label_type="center", fontsize=_FONT, color=look.ink, bbox=box)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    _dress(ax, names, end, _title(found, title, len(bars)))
    return ax


def _title(found: Breakdown, title: str, num_bars: int) -> str:
    ranks = f"{len(found.parts)} rank{'s' * (len(found.parts) != 1)}"
    words = [title, ranks, caption.time_text(found.end)]
    if any(found.communication):
        words.append(f"{found.overlap:.0%} of the communication hidden behind work")
    if num_bars < len(found.parts):
        words.append(f"{num_bars - 1} ranks shown")
    return " · ".join(words)


def _axes(num_bars: int) -> Axes:
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(9, 1.3 + 0.27 * max(2, num_bars)), layout="constrained")
    return ax


def _dress(ax: Axes, names: list[str], end: float, title: str) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.set(xlim=(0, end), ylim=(len(names) - 0.5, -0.5))
    ax.tick_params(axis="y", length=0, labelsize=8.5)
    ax.tick_params(axis="x", labelsize=8.5, color=MUTED)
    if names[:1] == ["mean"]:
        ax.get_yticklabels()[0].set_fontweight("bold")
        ax.axhline(0.5, color=INK, linewidth=0.8)
    caption.time_axis(ax.xaxis, end)
    ax.xaxis.label.set(fontsize=9, color=INK)
    ax.grid(axis="x", color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    legend_above(ax, ax.get_legend_handles_labels()[0], title)
