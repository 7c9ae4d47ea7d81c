"""Which algorithm at which size? Simulated time over bytes, both logarithmic, with the line that nobody can get below.

Where a curve is flat, latency counts: few rounds win. Where it rises in proportion to the size, bytes count: what moves least
wins. The strip at the bottom names the fastest at each size, so it changes where two curves cross.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log10, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simdist.cluster import Cluster
from simdist.collectives import League, league
from simdist.plot.caption import bytes_text, time_text
from simdist.plot.legend import legend_above
from simdist.plot.palette import GRID, INK, MUTED, OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SIZES", "Reign", "algorithms", "reigns"]

SIZES = tuple(4**power for power in range(5, 16))
"""1 KiB to 1 GiB."""

_COLORS = tuple(OKABE_ITO[name] for name in OKABE_ITO if name not in ("black", "yellow"))
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)))
_MARKERS = "osD^vPX*<>hp"
_LETTER = 0.0082
"""Width of a small letter as a share of the width of the axes."""


class Reign(NamedTuple):
    """A range of sizes in which one algorithm is the fastest.

    Attributes:
        algorithm: its name.
        first: the smallest of the sizes, bytes.
        last: the largest.
    """

    algorithm: str
    first: int
    last: int


def algorithms(
    collective: str,
    cluster: str | Path | Cluster = "dgx-a100",
    world_size: int = 8,
    *,
    sizes: Sequence[int] = SIZES,
    root: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the time of every algorithm of a collective over the size of the buffer.

    Args:
        collective: ``"all_reduce"`` ...
        cluster: the machines: a name, a ``Cluster``, a TOML file.
        world_size: number of ranks.
        sizes: bytes of the whole buffer, as ``sd.collectives.league`` counts them.
        root: of rooted collectives.
        ax: matplotlib axes, or None for a new figure.

    Returns:
        The axes; bytes to the right, seconds upwards.

    Raises:
        UnknownNameError: no such collective or cluster.
        ClusterError: more ranks than devices.
        ValueError: a size below one byte, or none; a collective without bytes; one rank.
    """
    _check(collective, world_size, sizes)
    tables = [
        league(collective, cluster=cluster, world_size=world_size, nbytes=n, root=root) for n in sorted(set(sizes))
    ]
    ax = _axes() if ax is None else ax
    names = sorted(
        {standing.algorithm for standing in tables[0].standings},
        key=lambda name: [_seconds(tables[-1], name), name],
    )
    looks = {
        name: (_COLORS[i % len(_COLORS)], _DASHES[i // len(_COLORS) % len(_DASHES)], _MARKERS[i % len(_MARKERS)])
        for i, name in enumerate(names)
    }
    nbytes = [table.nbytes for table in tables]
    for name, (color, dash, marker) in looks.items():
        ax.plot(
            nbytes, [_seconds(table, name) for table in tables], color=color, linestyle=dash, marker=marker, markersize=4.5,
            linewidth=1.5, label=name.removesuffix(f"_{collective}"),
        )  # fmt: skip
    ax.plot(nbytes, [table.bound for table in tables], color=INK, linestyle="--", linewidth=1.2, label="lower bound")
    _dress(ax, tables)
    _draw_reigns(ax, tables, {name: color for name, (color, _, _) in looks.items()})
    ranks = f"{collective}: {world_size} ranks on {tables[0].cluster}"
    legend_above(
        ax, ax.get_legend_handles_labels()[0], f"{ranks} · simulated, all ranks together, nothing else on the network"
    )
    return ax


def reigns(tables: Sequence[League]) -> list[Reign]:
    """Who is the fastest from which size to which.

    Args:
        tables: leagues of rising sizes.
    """
    found: list[Reign] = []
    for table in tables:
        name = table.standings[0].algorithm
        if found and found[-1].algorithm == name:
            found[-1] = found[-1]._replace(last=table.nbytes)
        else:
            found.append(Reign(name, table.nbytes, table.nbytes))
    return found


def _check(collective: str, world_size: int, sizes: Sequence[int]) -> None:
    if collective == "barrier":
        raise ValueError(
            "a barrier has no bytes: print(sd.collectives.league('barrier', nbytes=0)) compares its algorithms."
        )
    if not sizes or min(sizes) < 1:
        raise ValueError(f"sizes must be bytes, at least 1 and at least one of them, got {list(sizes)}.")
    if world_size < 2:
        raise ValueError(f"with world_size={world_size} nothing is sent: give at least 2 ranks.")


def _seconds(table: League, name: str) -> float:
    return next(standing.seconds for standing in table.standings if standing.algorithm == name)


def _axes() -> Axes:
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(9, 5.2), layout="constrained")
    return ax


def _dress(ax: Axes, tables: Sequence[League]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set(xscale="log", yscale="log")
    low = min([table.bound for table in tables if table.bound], default=1e-6)
    ax.set_ylim(bottom=low / 4)  # room for the strip
    for axis, text in ((ax.xaxis, bytes_text), (ax.yaxis, time_text)):
        axis.set_major_locator(LogLocator(10, numticks=20))
        axis.set_major_formatter(_ticks(text))
        axis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("bytes of the whole buffer", fontsize=9, color=INK)
    ax.set_ylabel("time", fontsize=9, color=INK)
    ax.tick_params(labelsize=8.5, color=MUTED)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("right", "top"):
        ax.spines[side].set_visible(False)


def _ticks(text: Callable[[float], str]) -> Callable[[float, float], str]:
    return lambda value, _: text(value)


def _draw_reigns(ax: Axes, tables: Sequence[League], colors: dict[str, str]) -> None:
    """The strip of the fastest, from the middle between two sizes to the next."""
    from matplotlib.transforms import blended_transform_factory

    place = blended_transform_factory(ax.transData, ax.transAxes)
    left, right = ax.get_xlim()
    found = reigns(tables)
    edges = [left, *[sqrt(a.last * b.first) for a, b in pairwise(found)], right]
    decades = log10(right / left)
    for reign, (begin, end) in zip(found, pairwise(edges), strict=True):
        ax.plot(
            [begin, end], [0.02, 0.02], transform=place, color=colors[reign.algorithm], linewidth=7, solid_capstyle="butt",
            label="_strip", zorder=1,
        )  # fmt: skip
        name = reign.algorithm.removesuffix(f"_{tables[0].collective}")
        share = log10(end / begin) / decades
        text = f"fastest: {name}"
        if len(text) * _LETTER > share:
            text = name if len(name) * _LETTER <= share else ""
        ax.text(
            sqrt(begin * end), 0.045, text, transform=place, fontsize=7.5, color=INK, ha="center", va="bottom",
        )  # fmt: skip
    ax.set_xlim(left, right)
