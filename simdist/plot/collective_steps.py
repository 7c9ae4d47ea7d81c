"""Which chunk is where, round by round? One panel per round: a row for each rank, a column for each chunk.

The letters in a cell say whose data it holds: A is rank 0, B rank 1. A reduction is done where all letters stand (Σ), and the
colour grows with their number; where data only move, each owner has a colour of its own. What has just arrived has a thick
border: a full one if it was combined with what was there, a dotted one if it took its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from simdist.comm.algorithm import ALGORITHMS, Algorithm
from simdist.comm.choose import Chooser
from simdist.comm.contents import Stage, stages
from simdist.comm.layout import Layout
from simdist.comm.rehearsal import Held, rehearse
from simdist.errors import TraceError, UnknownNameError
from simdist.plot.caption import bytes_text, fold
from simdist.plot.palette import INK, MUTED, OKABE_ITO, contrast, mixed
from simdist.result import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MAX_CHUNKS", "MAX_PANELS", "MAX_RANKS", "Scene", "cell_text", "collective_steps", "scene_of"]

MAX_RANKS, MAX_CHUNKS, MAX_PANELS = 16, 64, 16
"""More cannot be read. Of more rounds the first and the last are drawn."""

_REDUCTIONS = ("all_reduce", "reduce", "reduce_scatter", "barrier")
_OWNERS = tuple(OKABE_ITO[name] for name in OKABE_ITO if name != "black")
_PIECES = 4
"""Into how many pieces a pipelined algorithm cuts a buffer of which nothing is known."""

_PALEST, _FULL = 0.12, 1.0
_WIDTH, _CELL, _LETTER = 12.5, 0.3, 0.075
"""Inches: the widest figure, the smallest cell, a letter."""

_FONT = 9.0


@dataclass(frozen=True)
class Scene:
    """What is drawn.

    Attributes:
        title: in words.
        collective: what is performed.
        size: number of ranks.
        pieces: number of chunks.
        stages: the state before the first round and after each.
        names: global rank of each group rank.
    """

    title: str
    collective: str
    size: int
    pieces: int
    stages: tuple[Stage, ...]
    names: tuple[int, ...]


def collective_steps(
    source: Run | str | Algorithm,
    k: int = 0,
    *,
    world_size: int = 4,
    root: int = 0,
    rounds: Sequence[int] | None = None,
) -> list[Axes]:
    """Draw what each chunk of each rank holds after each round of a collective.

    Args:
        source: a run, of which the ``k``-th collective is drawn; or an algorithm, by its name or itself.
        k: which collective of a run, in order of time over all groups; -1 is the last.
        world_size: number of ranks of an algorithm.
        root: group rank of the root of an algorithm.
        rounds: which rounds (0: before the first one); None: all, or the first and last ones of many.

    Returns:
        The axes, one for each panel; x is the number of the chunk, y the group rank.

    Raises:
        TraceError: the run kept no trace, or has no collective.
        IndexError: the run has no such collective, or the collective no such round.
        UnknownNameError: there is no such algorithm (any more).
        ValueError: too many ranks or chunks for a picture.
    """
    scene = scene_of(source, k, world_size=world_size, root=root)
    if scene.size > MAX_RANKS or scene.pieces > MAX_CHUNKS:
        raise ValueError(
            f"{scene.title}: {scene.size} ranks with {scene.pieces} chunks cannot be read in a picture (at most "
            f"{MAX_RANKS} ranks and {MAX_CHUNKS} chunks). The algorithm does the same on fewer ranks: "
            f"sd.plot.collective_steps({_name_of(scene.title)!r}, world_size=4)."
        )
    shown = _shown(len(scene.stages), rounds)
    figure, panels = _figure(scene, len(shown))
    for axes, number in zip(panels, shown, strict=True):
        _draw(axes, scene, number)
    _explain(figure, scene, len(shown))
    return panels


def scene_of(source: Run | str | Algorithm, k: int = 0, *, world_size: int = 4, root: int = 0) -> Scene:
    """What ``collective_steps`` draws, as data.

    Args, raises: as ``collective_steps``.
    """
    if isinstance(source, Run):
        return _of_run(source, k)
    row = source if isinstance(source, Algorithm) else _algorithm(source)
    return _scene(f"{row.name}: {world_size} ranks", row, Layout(pieces=_PIECES), tuple(range(world_size)), root)


def cell_text(held: tuple[Held, ...], chunk: int, scene_size: int, reduces: bool) -> str:
    """What stands in a cell.

    Args:
        held: whose data are in it.
        chunk: its column.
        scene_size: number of ranks.
        reduces: whether the collective combines data.
    """
    ranks = sorted(item.rank for item in held)
    if reduces and ranks == list(range(scene_size)) and scene_size > 1:
        return "Σ"
    if len(held) == 1:
        letter = _letter(ranks[0])
        return letter if held[0].chunk == chunk else f"{letter}{held[0].chunk}"
    distinct = sorted(set(ranks))
    if len(ranks) <= 3 or len(ranks) > len(distinct):
        return "".join(map(_letter, ranks))
    firsts = [rank for rank in distinct if (rank - 1) % scene_size not in distinct]
    if len(firsts) == 1:  # neighbours, perhaps round the end: F to B
        return f"{_letter(firsts[0])}–{_letter((firsts[0] + len(distinct) - 1) % scene_size)}"
    return "".join(map(_letter, ranks)) if len(ranks) == 4 else f"{len(ranks)}/{scene_size}"


def _letter(rank: int) -> str:
    return chr(ord("A") + rank)


def _name_of(title: str) -> str:
    return title.partition(":")[0].partition(" #")[0]


def _algorithm(name: str) -> Algorithm:
    if name not in ALGORITHMS:
        raise UnknownNameError("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


def _of_run(run: Run, k: int) -> Scene:
    run.trace.need("collective to draw")
    entered: dict[tuple[str, int], list[tuple[float, int]]] = {}
    details = {}
    for span in run.trace:
        if span.kind == "communication" and span.details and "collective" in span.details:
            key = str(span.details["group"]), int(span.details["sequence"])
            entered.setdefault(key, []).append((span.start, span.rank))
            details[key] = span.details
    if not entered:
        raise TraceError("there is no collective to draw: no ranks of the run had one that took time.")
    order = sorted(entered, key=lambda key: (min(entered[key]), key))
    if not -len(order) <= k < len(order):
        raise IndexError(f"there is no collective {k}: the run had {len(order)}, numbered from 0 (-1 is the last).")
    key = order[k]
    found = details[key]
    ranks = tuple(found.get("ranks") or sorted({rank for _, rank in entered[key]}))
    row = _algorithm(found["algorithm"])
    chooser = Chooser(run.machines, {row.collective: row})
    _, layout = chooser.choose(row.collective, ranks, found["bytes"])
    group = f" of group {key[0]!r}" if key[0] != "world" else ""
    title = f"{row.name}: {found['collective']} #{key[1]}{group} · {len(ranks)} ranks · {bytes_text(found['bytes'])}"
    return _scene(f"{title} · {run.name}, {run.where()}", row, layout, ranks, found.get("root", 0))


def _scene(title: str, row: Algorithm, layout: Layout, ranks: tuple[int, ...], root: int) -> Scene:
    size, pieces = len(ranks), row.pieces(len(ranks), layout)
    if size > MAX_RANKS or pieces > MAX_CHUNKS:
        return Scene(title, row.collective, size, pieces, (), ranks)
    seen = rehearse(row, size, root, layout)
    found = stages(row.collective, seen, pieces, root)
    rounds = len(found) - 1
    title = title.replace(" ranks", f" ranks · {rounds} round{'s' * (rounds != 1)}", 1)
    return Scene(title, row.collective, size, pieces, tuple(found), ranks)


def _shown(count: int, rounds: Sequence[int] | None) -> list[int]:
    if rounds is None:
        half = MAX_PANELS // 2
        return list(range(count)) if count <= MAX_PANELS else [*range(half), *range(count - half, count)]
    for number in rounds:
        if not 0 <= number < count:
            raise IndexError(f"there is no round {number}: there are {count - 1} rounds, and 0 is before the first.")
    if not rounds:
        raise ValueError("rounds=[] leaves nothing to draw; leave `rounds` out to see all.")
    return list(dict.fromkeys(rounds))


def _figure(scene: Scene, count: int) -> tuple[Figure, list[Axes]]:
    from matplotlib import pyplot

    texts = [
        cell_text(held, chunk, scene.size, scene.collective in _REDUCTIONS)
        for stage in scene.stages
        for (_, chunk), held in stage.holds.items()
    ]
    cell = max(_CELL, 0.1 + _LETTER * max(map(len, texts), default=1))
    width = max(1.0, scene.pieces * cell) + 0.35
    columns = max(1, min(count, int(_WIDTH / width)))
    columns = ceil(count / ceil(count / columns))  # lines of equal length
    lines = ceil(count / columns)
    height = scene.size * _CELL + 0.5
    figure, grid = pyplot.subplots(
        lines, columns, figsize=(max(6.0, columns * width + 0.7), lines * height + 0.75), squeeze=False,
        layout="constrained", sharex=True, sharey=True,
    )  # fmt: skip
    panels = list(grid.flat)
    for spare in panels[count:]:
        spare.set_axis_off()
    for above in panels[max(0, count - columns) : count]:
        above.tick_params(axis="x", labelbottom=True)
    return figure, panels[:count]


def _draw(ax: Axes, scene: Scene, number: int) -> None:
    from matplotlib.patches import Rectangle

    stage = scene.stages[number]
    reduces = scene.collective in _REDUCTIONS
    inks: dict[tuple[int, int], str] = {}
    for rank in range(scene.size):
        for chunk in range(scene.pieces):
            held = stage.holds.get((rank, chunk), ())
            color = _color(held, scene.size, reduces)
            inks[rank, chunk] = INK if contrast(INK, color) >= contrast("#FFFFFF", color) else "#FFFFFF"
            ax.add_patch(
                Rectangle((chunk - 0.5, rank - 0.5), 1, 1, facecolor=color, edgecolor="#BBBBBB", linewidth=0.6)
            )
            if held:
                text = cell_text(held, chunk, scene.size, reduces)
                ax.text(chunk, rank, text, ha="center", va="center", fontsize=8, color=inks[rank, chunk])
    for arrival in stage.arrivals:
        ax.add_patch(
            Rectangle(
                (arrival.target - 0.42, arrival.dst - 0.42), 0.84, 0.84, fill=False,
                edgecolor=inks[arrival.dst, arrival.target], linewidth=1.6,
                linestyle="-" if arrival.combine else (0, (1.2, 0.9)), zorder=3,
            )
        )  # fmt: skip
    name = f"round {number}" if number else "before"
    ax.set_title(name, fontsize=8.5, color=INK, loc="left", pad=3)
    ax.set(xlim=(-0.5, scene.pieces - 0.5), ylim=(scene.size - 0.5, -0.5), aspect="auto")
    ax.set_yticks(range(scene.size), [f"rank {rank}: {_letter(i)}" for i, rank in enumerate(scene.names)])
    ax.set_xticks(range(0, scene.pieces, ceil(scene.pieces / 16)))
    if scene.collective == "all_to_all":
        for chunk in range(scene.size, scene.pieces, scene.size):
            ax.axvline(chunk - 0.5, color=MUTED, linewidth=1.0)
    ax.tick_params(length=0, labelsize=7, colors=MUTED, pad=2)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _color(held: tuple[Held, ...], size: int, reduces: bool) -> str:
    if not held:
        return "#FFFFFF"
    if not reduces:
        return mixed(_OWNERS[held[0].rank % len(_OWNERS)], 0.55, 255)
    share = (len({item.rank for item in held}) - 1) / max(1, size - 1)
    return mixed(OKABE_ITO["blue"], _PALEST + (_FULL - _PALEST) * share, 255)


def _explain(figure: Figure, scene: Scene, shown: int) -> None:
    """Title, and how to read it."""
    title = scene.title + (f" · {shown} of {len(scene.stages)} panels shown" if shown < len(scene.stages) else "")
    text = "\n".join(fold(line, int(figure.get_figwidth() * 72 / _FONT / 0.58)) for line in (title, _reading(scene)))
    figure.suptitle(text, fontsize=_FONT, x=0.01, ha="left", color=INK, linespacing=1.4)


def _reading(scene: Scene) -> str:
    """How to read the picture, in the words that it needs."""
    if scene.collective == "barrier":
        return "row: a rank · letters: of whom it knows that they have come (Σ: all) · dotted border: just heard"
    arrived = {arrival.combine for stage in scene.stages for arrival in stage.arrivals}
    words = ["rows: ranks, columns: chunks", "letters: whose data"]
    if scene.collective == "all_to_all":
        words[0] += f" (source × {scene.size} + destination)"
    words += ["Σ: of all"] if scene.collective in _REDUCTIONS and scene.size > 1 else []
    words += ["full border: just combined"] if True in arrived else []
    words += ["dotted border: just copied"] if False in arrived else []
    return " · ".join(words)
