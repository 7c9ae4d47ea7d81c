"""Who holds how much memory, and when? One accelerator's memory over time, stacked by class.

Each memory point says what a class holds from its time on, so the curves are steps. What stays (parameters, gradients,
optimizer state) is at the bottom; what comes and goes is on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simdist.errors import TraceError
from simdist.plot import caption
from simdist.plot.palette import FAILURE, GRID, INK, MEMORY, MUTED, Look, darker
from simdist.trace.trace import UNTRACED, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["curves", "memory"]

_MAX_STEPS = 4000
"""More steps than this are thinned: each of as many stretches of time shows its largest total."""

_LETTERS = 90
"""As many letters of the title fit into the width of the figure."""

_NEAR = 0.2
"""The capacity is drawn to scale if at least this share of it is used."""


def curves(trace: Trace, rank: int) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """What each class holds over time.

    Args:
        trace: of a run.
        rank: whose memory.

    Returns:
        Times in seconds (never falling, shape (T,)) and for each class, in the order of the stack, the bytes held from each
        time on (shape (T,)). Where memory is taken and freed at one instant, a step without width keeps the peak.
        A class that never holds anything is left out.

    Raises:
        ValueError: a rank that is not in the run.
        TraceError: there is no memory to draw.
    """
    if not 0 <= rank < trace.world_size:
        raise ValueError(f"there is no rank {rank} to draw: the ranks of this run are 0..{trace.world_size - 1}.")
    points = sorted(trace.memory(rank), key=lambda point: point.time)
    if not points:
        raise TraceError(f"there is no memory to draw: {_without_points(trace, rank)}.")
    kinds = [kind for kind in MEMORY if any(point.kind == kind and point.nbytes for point in points)]
    held = dict.fromkeys([*kinds, *(point.kind for point in points)], 0)
    times, steps = [0.0], [[0] * len(kinds)]
    for time, together in groupby(points, key=lambda point: point.time):
        states = []
        for point in together:
            held[point.kind] = point.nbytes
            states.append([held[kind] for kind in kinds])
        highest = max(states, key=sum)
        for state in [highest, states[-1]] if sum(highest) > max(sum(steps[-1]), sum(states[-1])) else states[-1:]:
            times.append(time)
            steps.append(state)
    table = np.asarray(steps, dtype=np.float64).T
    return np.asarray(times), dict(zip(kinds, table, strict=True))


def _without_points(trace: Trace, rank: int) -> str:
    """Why a rank has no memory points."""
    if not trace.is_kept:
        return UNTRACED
    if trace.meta.get("backend", "sim") != "sim":
        return "real processes have no accelerator whose memory is counted; draw a simulated run (backend='sim') of the function"
    return f"rank {rank} held none on its accelerator, for it made no tensors (numpy arrays are not counted)"


def memory(trace: Trace, rank: int = 0, capacity: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the memory of one rank.

    Args:
        trace: of a simulated run.
        rank: whose memory.
        capacity: of its accelerator in bytes, drawn as a line if it is not far away, and else written down; None: not known.
        ax: matplotlib axes, or None for a new figure.

    Returns:
        The axes; seconds to the right, bytes up, whatever units the labels have.

    Raises:
        ValueError: a rank that is not in the run.
        TraceError: there is no memory to draw.
    """
    times, held = curves(trace, rank)
    times, held = _thin(times, held)
    end = max(trace.end, float(times[-1])) or 1.0
    total = np.sum(list(held.values()), axis=0) if held else np.zeros_like(times)
    ax = _axes() if ax is None else ax
    edges = np.append(times, end)
    stack = np.zeros(len(edges))
    for kind, sizes in held.items():
        upper = stack + np.append(sizes, sizes[-1])
        _draw_class(ax, edges, stack, upper, MEMORY[kind])
        stack = upper
    peak = float(total.max())
    ax.plot(edges, stack, drawstyle="steps-post", color=INK, linewidth=0.8)
    top = _draw_capacity(ax, peak, capacity)
    _draw_peak(ax, float(times[int(total.argmax())]), peak, end)
    ax.set(xlim=(0, end), ylim=(0, top))
    caption.bytes_axis(ax.yaxis, top, f"memory of rank {rank}")
    caption.time_axis(ax.xaxis, end, "simulated time")
    _dress(ax, caption.fold(caption.title(trace), _LETTERS))
    return ax


def _axes() -> Axes:
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(9, 4), layout="constrained")
    return ax


def _draw_class(
    ax: Axes, edges: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64], look: Look
) -> None:
    edge = darker(look.color)
    ax.fill_between(
        edges, low, high, step="post", facecolor=look.color, edgecolor=edge, linewidth=0.3, hatch=look.hatch or None,
        label=look.label,
    )  # fmt: skip


def _draw_capacity(ax: Axes, peak: float, capacity: float | None) -> float:
    """The line, or a sentence if it is far above; returns the upper edge of the picture in bytes."""
    if capacity is None:
        return 1.2 * peak or 1.0
    text = f"capacity {caption.bytes_text(capacity)}"
    if peak < _NEAR * capacity:
        ax.text(
            1, 1.015, f"{text}: {_share(peak / capacity)} used",
            transform=ax.transAxes, ha="right", va="bottom", fontsize=8, color=FAILURE,
        )  # fmt: skip
        return 1.2 * peak or 1.0
    ax.axhline(capacity, color=FAILURE, linestyle="--", linewidth=1.4)
    ax.annotate(
        text, (1, capacity), (-3, 3), xycoords=("axes fraction", "data"), textcoords="offset points", ha="right",
        va="bottom", fontsize=8, color=FAILURE,
    )  # fmt: skip
    return 1.12 * max(capacity, peak)


def _share(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 else "less than 0.1%"


def _draw_peak(ax: Axes, time: float, peak: float, end: float) -> None:
    side = "left" if time < 0.5 * end else "right"
    ax.plot([time], [peak], marker="v", markersize=6, color=INK, clip_on=False)
    ax.annotate(
        f"peak {caption.bytes_text(peak)} at {caption.time_text(time)}", (time, peak), (6 if side == "left" else -6, 4),
        textcoords="offset points", ha=side, va="bottom", fontsize=8, color=INK,
    )  # fmt: skip


def _dress(ax: Axes, title: str) -> None:
    ax.set_title(title, fontsize=9.5, loc="left", color=INK, pad=20)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False,
        title="top to bottom", title_fontsize=7.5, alignment="left",
    )  # fmt: skip
    ax.tick_params(labelsize=8.5, color=MUTED)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(fontsize=9, color=INK)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("right", "top"):
        ax.spines[side].set_visible(False)


def _thin(
    times: NDArray[np.float64], held: Mapping[str, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Keep at most ``_MAX_STEPS`` steps; peaks stay, because each stretch keeps the step of its largest total."""
    if len(times) <= _MAX_STEPS:
        return times, dict(held)
    total = np.sum(list(held.values()), axis=0)
    bounds = np.linspace(0, len(times), _MAX_STEPS + 1).astype(int)
    kept = np.asarray([a + int(total[a:b].argmax()) for a, b in pairwise(bounds)])
    return times[kept], {kind: sizes[kept] for kind, sizes in held.items()}
