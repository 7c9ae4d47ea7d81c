"""Is it worth more accelerators? The speed-up with its ideal line and the fitted law, and the efficiency.

Both axes of the speed-up are logarithmic to base 2: numbers of ranks are usually doubled, and a constant efficiency is a
line parallel to the ideal one. The law is fitted to all points (``cost.speedup``); it is an account of the loss, not its cause.
"""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from simdist.plot import caption
from simdist.plot.palette import FAILURE, GRID, INK, MUTED, OKABE_ITO
from simdist.scaling import Scaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = ["efficiency", "speedup"]

_MEASURED, _IDEAL, _LAW = OKABE_ITO["blue"], MUTED, OKABE_ITO["orange"]
_CURVE_POINTS = 100
_FONT = 8.5
_LETTERS = 112
"""As many letters of the title fit into the width of the figure."""
_LONGEST_NAME = 28
"""A longer name is cut in the legend (the title has all of it), since it would lie over the lines."""


def speedup(scaling: Scaling, ax: Axes | None = None) -> Axes:
    """Draw the speed-up; on a new figure with the efficiency in a second panel.

    Args:
        scaling: the times.
        ax: matplotlib axes for the speed-up alone, or None for a new figure.

    Returns:
        The axes of the speed-up.
    """
    if ax is None:
        from matplotlib import pyplot

        figure, (ax, second) = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=(1.5, 1))
        text = f"{caption.fold(_title(scaling), _LETTERS)}\n{fill(_first_upper(scaling.verdict), _LETTERS)}".rstrip()
        figure.suptitle(text, fontsize=9.5, x=0.01, ha="left", color=INK, linespacing=1.5)
        efficiency(scaling, second)
        ax.set_title("Speed-up", fontsize=_FONT, loc="left", color=MUTED)
    else:
        ax.set_title(_title(scaling), fontsize=9.5, loc="left", color=INK)
    sizes, gains = list(scaling.world_sizes), scaling.speedup
    ax.plot(sizes, sizes, color=_IDEAL, linestyle="--", linewidth=1.2, label="ideal")
    _draw_law(ax, scaling)
    ax.plot(
        sizes, gains, color=_MEASURED, marker="o", markersize=5, linewidth=1.8, label=_short(scaling.name), zorder=3
    )
    _draw_values(ax, scaling)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    low, high = min(1.0, *gains), max(*sizes, *gains)
    room = 0.6 if low < 1 else 0.8  # the value of the lowest point stands under it
    ax.set(
        ylim=(low * room, max(2.0, high) * 1.5), ylabel="speed-up" if scaling.mode == "strong" else "scaled speed-up"
    )
    _dress(ax, scaling)
    _plain(ax.yaxis)
    ax.legend(loc="upper left", bbox_to_anchor=(0, 1), fontsize=8, frameon=False)
    return ax


def efficiency(scaling: Scaling, ax: Axes) -> Axes:
    """Draw the efficiency (speed-up divided by ranks) of each size as a bar with its value and the time of the run.

    Args:
        scaling: the times.
        ax: matplotlib axes.
    """
    places = range(len(scaling.world_sizes))
    ax.bar(places, [100 * share for share in scaling.efficiency], width=0.62, color=_MEASURED)
    ax.axhline(100, color=_IDEAL, linestyle="--", linewidth=1.2)
    top = max(1.0, *scaling.efficiency)
    for place, share in zip(places, scaling.efficiency, strict=True):
        inside = share > 0.2 * top  # above a high bar it would lie on the line of 100%
        ax.annotate(
            f"{share:.0%}", (place, 100 * share), (0, -3 if inside else 2), textcoords="offset points", ha="center",
            va="top" if inside else "bottom", fontsize=7.5, color="white" if inside else INK,
        )  # fmt: skip
    ax.set_xticks(list(places), [str(size) for size in scaling.world_sizes])
    middle, half = (len(places) - 1) / 2, max(1.5, len(places) / 2)  # a single bar is not as wide as the picture
    ax.set(ylim=(0, 108 * top), xlim=(middle - half, middle + half))
    ax.set_title("Efficiency in % (speed-up per rank)", fontsize=_FONT, loc="left", color=MUTED)
    ax.set_xlabel("ranks", fontsize=9, color=INK)
    _frame(ax)
    return ax


def _title(scaling: Scaling) -> str:
    sizes, times = scaling.world_sizes, scaling.times
    where = f" on {scaling.cluster}" if scaling.cluster else ""
    ranks, took = f"{sizes[0]} rank{'s' * (sizes[0] != 1)}", caption.time_text(times[0])
    if len(sizes) > 1:
        ranks, took = f"{sizes[0]} to {sizes[-1]} ranks", f"{took} to {caption.time_text(times[-1])}"
    return f"{scaling.name}: {scaling.mode} scaling{where} · {ranks} · {took}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _draw_law(ax: Axes, scaling: Scaling) -> None:
    """The fitted law as a line through all numbers of ranks, and its limit where it is near."""
    first, last = min(scaling.world_sizes), max(scaling.world_sizes)
    share = scaling.serial_fraction
    if share is None or scaling.law(first) is None:
        return
    grid = [first * (last / first) ** (i / (_CURVE_POINTS - 1)) for i in range(_CURVE_POINTS)]
    name = "Amdahl" if scaling.fit is not None else "Gustafson"
    gains = [scaling.law(size) or 0.0 for size in grid]
    ax.plot(grid, gains, color=_LAW, linewidth=1.6, label=f"{name}'s law, serial fraction {share:.1%}")
    if scaling.limit < 1.5 * last and "no number" in scaling.verdict:
        ax.axhline(scaling.limit, color=FAILURE, linestyle=":", linewidth=1.2)
        ax.annotate(
            f"limit {scaling.limit:.3g}x", (1, scaling.limit), (-3, 3), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", va="bottom", fontsize=8, color=FAILURE,
        )  # fmt: skip


def _draw_values(ax: Axes, scaling: Scaling) -> None:
    """The number at each point but the first: below it, or above a peak."""
    gains = scaling.speedup
    for index in range(1, len(gains)):
        peak = index + 1 < len(gains) and gains[index + 1] < gains[index]
        ax.annotate(
            f"{gains[index]:.3g}x", (scaling.world_sizes[index], gains[index]), (0, 6) if peak else (4, -5),
            textcoords="offset points", ha="center" if peak else "left", va="bottom" if peak else "top", fontsize=7.5,
            color=INK, zorder=4, bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.5},
        )  # fmt: skip


def _dress(ax: Axes, scaling: Scaling) -> None:
    sizes = list(scaling.world_sizes)
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    low, high = min(sizes), max(sizes)
    ax.set_xlim(low / 1.2, high * 1.45)
    ax.set_xlabel("ranks", fontsize=9, color=INK)
    ax.yaxis.label.set(fontsize=9, color=INK)
    ax.grid(color=GRID, linewidth=0.6)
    _frame(ax)


def _frame(ax: Axes) -> None:
    ax.tick_params(labelsize=8.5, color=MUTED)
    ax.set_axisbelow(True)
    for side in ("right", "top"):
        ax.spines[side].set_visible(False)


def _plain(axis: Axis) -> None:
    """Write 8, not 2 to the power of 3."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
