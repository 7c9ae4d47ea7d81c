"""Who did what when? One row per rank, and under it its communication streams.

Time runs to the right, rank 0 is on top. What stands in the row of the rank itself is what its program was busy with, so
communication there is *exposed*; communication that stands only in a stream's narrow row is *hidden* behind the work above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simdist.errors import TraceError
from simdist.plot import caption
from simdist.plot.legend import expected_width, legend_above
from simdist.plot.palette import GRID, INK, KINDS, MUTED, darker, paler
from simdist.plot.pieces import Piece, pieces
from simdist.plot.words import write_words
from simdist.trace.span import MAIN, Flow
from simdist.trace.trace import NOTHING, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

__all__ = ["MAX_RANKS", "Row", "layout", "shown_ranks", "timeline"]

MAX_RANKS = 64
"""More ranks than this are drawn as a choice of them."""

_WIDTH, _ROW, _MARGIN, _TALLEST = 9.0, 0.34, 1.25, 13.0
"""Inches: the figure, the row of a rank with one stream, what is not rows, the tallest figure."""

_MAIN_HEIGHT, _STREAM_HEIGHT = 0.62, 0.28
_MANY = 16
"""From more ranks on, streams have no names and show only if they tell something new."""
_MAX_ARROWS = 60


class Row(NamedTuple):
    """Where one stream is drawn.

    Attributes:
        rank: whose stream.
        stream: its name.
        top: upper edge; the axis points down.
        height: in units in which a rank's own row and its gap are 1 with one communication stream.
    """

    rank: int
    stream: str
    top: float
    height: float

    @property
    def middle(self) -> float:
        """The height of its centre line."""
        return self.top + self.height / 2


def timeline(
    trace: Trace,
    ranks: Sequence[int] | None = None,
    start: float | None = None,
    end: float | None = None,
    ax: Axes | None = None,
    messages: bool | None = None,
) -> Axes:
    """Draw what every rank and stream did.

    Args:
        trace: of a run.
        ranks: which ranks; None: all, or evenly chosen ones if there are more than ``MAX_RANKS``.
        start: the left edge in seconds; None: the beginning of the run.
        end: the right edge in seconds; None: the end of the run.
        ax: matplotlib axes, or None for a new figure.
        messages: draw an arrow for each message; None: for those that the program sent itself, if they are few.

    Returns:
        The axes; time in seconds, whatever unit the labels have.

    Raises:
        TraceError: the run kept no trace, or nothing happened in it.
        ValueError: a rank that is not in the run, or an end that is not after the start.
    """
    trace.need("timeline to draw")
    if not trace.end and not trace.span_rows:
        raise TraceError(f"there is no timeline to draw: {NOTHING}.")
    chosen = shown_ranks(trace.world_size, ranks)
    start, end = 0.0 if start is None else start, trace.end if end is None else end
    if not start < end:
        raise ValueError(
            f"a timeline from {caption.time_text(start)} to {caption.time_text(end)} has no width: `end` must be after `start`."
        )
    streams = _streams(trace, chosen, start, end)
    rows = layout(streams)
    depth = rows[-1].top + rows[-1].height if rows else 1.0
    ax = _axes(depth) if ax is None else ax
    ax.set(xlim=(start, end), ylim=(depth + 0.12, -0.12))
    width, height = expected_width(ax), ax.get_window_extent().height
    quantum = (end - start) / max(200.0, 1.5 * width)
    areas = {row: pieces(streams[row.rank, row.stream], start, end, quantum) for row in rows}
    _draw_areas(ax, areas)
    write_words(ax, areas, (end - start) / width, height / depth)
    _draw_messages(ax, _arrows(trace, messages, start, end), rows)
    _dress(ax, trace, rows, len(chosen), height / depth)
    what = f"{len(chosen)} of them shown" if len(chosen) < trace.world_size else ""
    _legend(ax, areas, caption.title(trace, what))
    return ax


def shown_ranks(world_size: int, ranks: Sequence[int] | None) -> list[int]:
    """Which ranks are drawn: those asked for, or all, or ``MAX_RANKS`` evenly chosen ones with the first and the last.

    Raises:
        ValueError: a rank that is not in the run.
    """
    if ranks is None:
        if world_size <= MAX_RANKS:
            return list(range(world_size))
        return [round(i * (world_size - 1) / (MAX_RANKS - 1)) for i in range(MAX_RANKS)]
    chosen = list(dict.fromkeys(int(rank) for rank in ranks))
    for rank in chosen:
        if not 0 <= rank < world_size:
            raise ValueError(f"there is no rank {rank} to draw: the ranks of this run are 0..{world_size - 1}.")
    if not chosen:
        raise ValueError("ranks=[] leaves nothing to draw; leave `ranks` out to see all.")
    return chosen


def _streams(trace: Trace, ranks: list[int], start: float, end: float) -> dict[tuple[int, str], list[tuple[Any, ...]]]:
    """The rows of each stream in order of time, ranks in the order asked for, each rank's own row first."""
    found: dict[tuple[int, str], list[tuple[Any, ...]]] = {(rank, MAIN): [] for rank in ranks}
    wanted = frozenset(ranks)
    for row in trace.span_rows:
        if row[0] in wanted and (row[1] == MAIN or (row[5] > start and row[4] < end)):
            found.setdefault((row[0], row[1]), []).append(row)
    place = {rank: index for index, rank in enumerate(ranks)}
    if len(ranks) > _MANY:
        found = _without_echoes(found)
    order = sorted(found, key=lambda key: (place[key[0]], key[1] != MAIN, len(key[1]), key[1]))
    return {key: sorted(found[key], key=lambda row: (row[4], row[5])) for key in order}


def _without_echoes(
    streams: dict[tuple[int, str], list[tuple[Any, ...]]],
) -> dict[tuple[int, str], list[tuple[Any, ...]]]:
    """Leave out the streams that on no rank show anything else than the rank's own row: all they did was exposed."""
    own = {rank: {row[2:6] for row in rows} for (rank, stream), rows in streams.items() if stream == MAIN}
    telling = {stream for (rank, stream), rows in streams.items() if any(row[2:6] not in own[rank] for row in rows)}
    return {key: rows for key, rows in streams.items() if key[1] == MAIN or key[1] in telling}


def layout(streams: Sequence[tuple[int, str]] | dict[tuple[int, str], Any]) -> list[Row]:
    """Place streams below each other: communication streams hang narrow under the row of their rank."""
    rows: list[Row] = []
    top, last = 0.0, None
    for rank, stream in streams:
        top += 0.0 if last is None else 0.1 if last != rank else 0.03
        height = _MAIN_HEIGHT if stream == MAIN else _STREAM_HEIGHT
        rows.append(Row(rank, stream, top, height))
        top, last = top + height, rank
    return rows


def _axes(depth: float) -> Axes:
    from matplotlib import pyplot

    height = min(_TALLEST, _MARGIN + _ROW * max(2.0, depth))
    _, ax = pyplot.subplots(figsize=(_WIDTH, height), layout="constrained")
    return ax


def _draw_areas(ax: Axes, areas: dict[Row, list[Piece]]) -> None:
    """One collection per look, in it one path per row: drawing a hatch once per area would take most of the time."""
    from matplotlib.collections import PathCollection

    shapes: dict[tuple[str, bool], list[Path]] = {}
    for row, found in areas.items():
        spans: dict[tuple[str, bool], list[tuple[float, float]]] = {}
        for piece in found:
            spans.setdefault((piece.kind, piece.pale), []).append((piece.start, piece.end))
        for look_of, bounds in spans.items():
            shapes.setdefault(look_of, []).append(_boxes(bounds, row))
    for kind, pale in sorted(shapes, key=lambda look: (list(KINDS).index(look[0]), not look[1])):
        if kind == "idle":
            continue
        look = KINDS[kind]
        drawn = PathCollection(
            shapes[kind, pale],
            facecolor=paler(look.color) if pale else look.color,
            edgecolor=darker(look.color) if look.hatch else "none",
            linewidth=0.4 if look.hatch else 0.0,
            hatch=look.hatch or None,
            antialiased=bool(look.hatch),
            label=f"{kind} (launch)" if pale else kind,
        )
        ax.add_collection(drawn, autolim=False)


def _boxes(bounds: list[tuple[float, float]], row: Row) -> Path:
    """One path of many rectangles."""
    from matplotlib.path import Path

    corners = np.empty((len(bounds), 5, 2))
    corners[:, (0, 1, 4), 0] = np.asarray(bounds)[:, :1]
    corners[:, (2, 3), 0] = np.asarray(bounds)[:, 1:]
    corners[:, (0, 3, 4), 1] = row.top
    corners[:, (1, 2), 1] = row.top + row.height
    return Path.make_compound_path_from_polys(corners)


def _arrows(trace: Trace, messages: bool | None, start: float, end: float) -> list[Flow]:
    """The messages to draw. Those inside collectives (whose label is not a tag) only if they are asked for."""
    if messages is False:
        return []
    rows = [
        row for row in trace.flow_rows if row[4] > start and row[3] < end and (messages or row[6].startswith("tag "))
    ]
    return [Flow._make(row) for row in rows] if messages or len(rows) <= _MAX_ARROWS else []


def _draw_messages(ax: Axes, flows: list[Flow], rows: list[Row]) -> None:
    """An arrow from the sender's row at the start to the receiver's at the end of each message."""
    place = {row.rank: row for row in rows if row.stream == MAIN}
    for flow in flows:
        if flow.src not in place or flow.dst not in place:
            continue
        down = place[flow.src].top < place[flow.dst].top
        ax.annotate(
            "",
            xy=(flow.end, place[flow.dst].top + (0 if down else _MAIN_HEIGHT)),
            xytext=(flow.start, place[flow.src].top + (_MAIN_HEIGHT if down else 0)),
            arrowprops={
                "arrowstyle": "-|>",
                "color": INK,
                "linewidth": 0.7,
                "mutation_scale": 7,
                "shrinkA": 0,
                "shrinkB": 0,
            },
            annotation_clip=True,
        )


def _dress(ax: Axes, trace: Trace, rows: list[Row], num_ranks: int, unit: float) -> None:
    """Names of rows, units, grid, and what the picture shows."""
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64) if step * unit >= 13 or step == 64)
    mains = [row for row in rows if row.stream == MAIN]
    marks = [(row, f"rank {row.rank}") for row in mains[::step]]
    if num_ranks <= _MANY:
        marks += [(row, row.stream) for row in rows if row.stream != MAIN]
    ax.set_yticks([row.middle for row, _ in marks], [text for _, text in marks])
    for (row, _), label in zip(marks, ax.get_yticklabels(), strict=True):
        main = row.stream == MAIN
        label.set(fontsize=8.5 if main else 6.5, color=INK if main else MUTED)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=8.5, color=MUTED)
    ax.grid(axis="x", color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    caption.time_axis(
        ax.xaxis, ax.get_xlim()[1], "simulated time" if trace.meta.get("backend", "sim") == "sim" else "time"
    )
    ax.xaxis.label.set(fontsize=9, color=INK)


def _legend(ax: Axes, areas: dict[Row, list[Piece]], title: str) -> None:
    """One entry per kind that can be seen, above the rows."""
    from matplotlib.patches import Patch

    seen = {(piece.kind, piece.pale) for found in areas.values() for piece in found}
    entries = []
    for kind, look in KINDS.items():
        if kind == "idle" or not {(kind, True), (kind, False)} & seen:
            continue
        text = f"{look.label} ({look.letter})" if look.letter else look.label
        entries.append(
            Patch(facecolor=look.color, edgecolor=darker(look.color), linewidth=0.4, hatch=look.hatch, label=text)
        )
    if any(pale for _, pale in seen):
        entries.append(Patch(facecolor="#CCCCCC", linewidth=0, label="pale: launch overhead"))
    legend_above(ax, entries, title)
