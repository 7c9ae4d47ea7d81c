"""Who is joined to whom, and which cables were busy?

Every cable is drawn as its directions: a full-duplex one as two lines, traffic keeping to the right, a half-duplex one as one.
With a run a line's colour is the link's utilisation, bytes over bandwidth times the run's time; without, its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simdist.cluster import Cluster
from simdist.cluster.catalogue import resolve
from simdist.errors import TraceError
from simdist.plot.cables import Line, Points, arrow, lines_of, path
from simdist.plot.caption import fold, time_text
from simdist.plot.legend import expected_width
from simdist.plot.palette import GRID, INK, MUTED, OKABE_ITO, Look
from simdist.plot.places import Chart, chart
from simdist.result import Run
from simdist.units import format_rate

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["MAX_DEVICES", "MAX_NODES", "VERTICES", "topology"]

MAX_DEVICES, MAX_NODES = 48, 64
"""With more devices each node is drawn as one vertex; more nodes cannot be told apart."""

VERTICES: dict[str, Look] = {
    "device": Look(OKABE_ITO["blue"], "device", "s", "#FFFFFF"),
    "node": Look(OKABE_ITO["blue"], "node", "s", "#FFFFFF"),
    "fabric": Look(OKABE_ITO["bluish green"], "switch inside the node", "h"),
    "host": Look("#BBBBBB", "host (PCIe)", "h"),
    "nic": Look(OKABE_ITO["sky blue"], "network card", "D"),
    "switch": Look(OKABE_ITO["orange"], "switch", "o"),
}
"""How each kind of vertex is drawn; the letter is matplotlib's marker."""

_SIZES: dict[str, float] = {"device": 260, "node": 260, "fabric": 230, "host": 230, "nic": 70, "switch": 230}
_CABLES = tuple(OKABE_ITO[name] for name in ("black", "vermillion", "reddish purple", "bluish green", "blue", "orange"))
_COLORS = "viridis_r"
_UNUSED = "#C8C8C8"
_FONT = 9.0
_WIDEST = 15.0
"""Inches."""


Extent = tuple[tuple[float, float], tuple[float, float]]


def topology(cluster: str | Path | Cluster, run: Run | None = None, ax: Axes | None = None) -> Axes:
    """Draw a cluster; with a run, how much of its links the run used.

    Args:
        cluster: the machines: a name, a ``Cluster``, a TOML file.
        run: what ran on it, or None.
        ax: matplotlib axes, or None for a new figure.

    Returns:
        The axes.

    Raises:
        UnknownNameError: no cluster of that name.
        ClusterError: the cluster has too few devices for the run.
        ValueError: too many nodes for a picture, or a run on other machines.
        TraceError: the run kept no trace, or was on real processes.
    """
    machines = resolve(cluster, run.world_size if run is not None else 1)
    if run is not None:
        run.trace.need("use of links to draw")
        if run.backend != "sim":
            raise TraceError(
                f"there is no use of links to draw: the run was on real processes ({run.backend}), and only a simulation knows "
                f"which cables its bytes crossed. sd.plot.topology(cluster) draws the machines alone."
            )
        if run.machines is not None and run.machines != machines:
            raise ValueError(
                f"the run was on {run.machines.name!r} with {run.machines.num_devices} devices, not on {machines.name!r} with "
                f"{machines.num_devices}: give sd.plot.topology(run.machines, run)."
            )
    whole = machines.num_devices > MAX_DEVICES
    if len(machines.nodes) > MAX_NODES:
        raise ValueError(
            f"{machines.name!r} has {len(machines.nodes)} nodes, and at most {MAX_NODES} can be told apart in a picture. Draw "
            f"a smaller one of its kind; run.links() is the table of all links."
        )
    place = chart(machines, whole_nodes=whole)
    lines = lines_of(machines, place)
    paths = [path(place, line) for line in lines]
    extent = _extent(place, paths)
    ax = _axes(extent, run is not None) if ax is None else ax
    ax.set(xlim=extent[0], ylim=extent[1], aspect="equal", anchor="W")
    _draw_boxes(ax, place, whole)
    entries = _draw_links(ax, machines, lines, paths, run)
    entries = _draw_vertices(ax, place, extent) + entries
    _dress(ax, entries, _title(machines, run, whole))
    return ax


def _axes(extent: Extent, with_bar: bool) -> Axes:
    from matplotlib import pyplot

    width, height = (high - low for low, high in extent)
    scale = _scale(extent)
    size = (max(6.5, width * scale + 0.4 + 0.9 * with_bar), max(2.8, height * scale + 1.2))
    _, ax = pyplot.subplots(figsize=size, layout="constrained")
    return ax


def _scale(extent: Extent) -> float:
    """Inches for a unit."""
    return min(0.55, _WIDEST / (extent[0][1] - extent[0][0]))


def _extent(place: Chart, paths: Sequence[Points]) -> Extent:
    xs = [v.x for v in place.vertices.values()] + [x for box in place.boxes for x in (box.left, box.right)]
    ys = [v.y for v in place.vertices.values()] + [y for box in place.boxes for y in (box.bottom, box.top)]
    xs += [x for path in paths for x, _ in path]
    ys += [y for path in paths for _, y in path]
    return (min(xs) - 0.5, max(xs) + 0.5), (min(ys) - 0.7, max(ys) + 0.7)


def _draw_boxes(ax: Axes, place: Chart, whole: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    for box in () if whole else place.boxes:
        ax.add_patch(
            FancyBboxPatch(
                (box.left, box.bottom), box.right - box.left, box.top - box.bottom, boxstyle="round,pad=0,rounding_size=0.2",
                facecolor="#F7F7F7", edgecolor=GRID, linewidth=1.0, zorder=0,
            )
        )  # fmt: skip
        ax.text(box.left + 0.1, box.bottom - 0.1, box.label, fontsize=8, color=MUTED, va="top")


def _draw_links(
    ax: Axes, cluster: Cluster, lines: Sequence[Line], paths: Sequence[Points], run: Run | None
) -> list[Artist]:
    """The lines; returns what the legend has to say of them (nothing where a colour bar says it)."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.lines import Line2D

    slowest = min([link.bandwidth for link in cluster.links], default=1.0)
    widths = [1.3 + 1.1 * min(2.0, log10(cluster.links[line.links[0]].bandwidth / slowest)) for line in lines]
    entries: list[Artist] = []
    if run is None:
        kinds = list(dict.fromkeys(_cable(cluster, line) for line in lines))
        colors = [_CABLES[kinds.index(_cable(cluster, line)) % len(_CABLES)] for line in lines]
        entries = [
            Line2D([], [], color=_CABLES[i % len(_CABLES)], linewidth=2, label=kind) for i, kind in enumerate(kinds)
        ]
    else:
        colors = _colored(ax, lines, run)
        if _UNUSED in colors:
            entries = [Line2D([], [], color=_UNUSED, linewidth=2, label="carried nothing")]
    order = sorted(range(len(lines)), key=lambda i: colors[i] != _UNUSED)  # the unused ones below
    ax.add_collection(
        LineCollection(
            [paths[i] for i in order],
            colors=[colors[i] for i in order],
            linewidths=[widths[i] for i in order],
            zorder=1,
        ),
        autolim=False,
    )
    arrows = [(arrow(paths[i]), colors[i]) for i in order if not lines[i].both]
    ax.add_collection(
        PolyCollection([shape for shape, _ in arrows], facecolors=[color for _, color in arrows], zorder=1.5),
        autolim=False,
    )
    return entries


def _cable(cluster: Cluster, line: Line) -> str:
    link = cluster.links[line.links[0]]
    many = f"{len(line.links)} × " if len(line.links) > 1 else ""
    return f"{many}{format_rate(link.bandwidth)}, {time_text(link.latency)}{', half duplex' * line.both}"


def _colored(ax: Axes, lines: Sequence[Line], run: Run) -> list[str]:
    """Colours by utilisation, with their bar."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize, to_hex

    use = [row.utilisation for row in run.links()]
    shares = [max(use[link] for link in line.links) for line in lines]
    top = max(shares, default=0.0) or 1.0
    colors = ListedColormap(colormaps[_COLORS](np.linspace(0.08, 1, 256)))  # the palest cannot be seen on white
    norm = Normalize(0, top)
    bar = ax.figure.colorbar(ScalarMappable(norm, colors), ax=ax, fraction=0.05, pad=0.01, shrink=0.9)
    bar.set_label("utilisation: bytes / (bandwidth × time of the run)", fontsize=8, color=INK)
    form = ".0%" if top >= 0.1 else ".2%" if top >= 1e-3 else ".2g"
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:{form}}")
    bar.ax.tick_params(labelsize=8, color=MUTED)
    return [to_hex(colors(norm(share))) if share else _UNUSED for share in shares]


def _draw_vertices(ax: Axes, place: Chart, extent: Extent) -> list[Artist]:
    """The vertices with their names; returns their entries in the legend."""
    from matplotlib.lines import Line2D

    small = min(1.0, _scale(extent) / 0.4)
    font = max(5.0, 8 * small)
    entries: list[Artist] = []
    for kind, look in VERTICES.items():
        found = [v for v in place.vertices.values() if v.kind == kind]
        if not found:
            continue
        ax.scatter(
            [v.x for v in found], [v.y for v in found], s=_SIZES[kind] * small**2, marker=look.letter, color=look.color,
            edgecolors="white", linewidths=1.0, zorder=2,
        )  # fmt: skip
        for v in found:
            if kind in ("device", "node"):
                ax.text(v.x, v.y - 0.02, v.label, fontsize=font, color=look.ink, ha="center", va="center", zorder=3)
            elif v.label:
                offset = (0, 9) if kind == "switch" else (8, 4)
                ax.annotate(
                    v.label, (v.x, v.y), offset, textcoords="offset points", fontsize=font - 1, color=INK, zorder=3,
                    ha="center" if kind == "switch" else "left",
                    bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.4},
                )  # fmt: skip
        entries.append(
            Line2D([], [], marker=look.letter, markersize=8, color=look.color, linestyle="none", label=look.label)
        )
    return entries


def _title(cluster: Cluster, run: Run | None, whole: bool) -> str:
    words = [f"{cluster.name}: {cluster.num_devices} device{'s' * (cluster.num_devices != 1)}"]
    if run is not None:
        busiest = max(run.links(), key=lambda row: row.utilisation, default=None)
        words += [f"{run.name}, {run.world_size} ranks, network {run.network}, {time_text(run.time)}"]
        if busiest is not None and busiest.utilisation:
            words += [f"busiest: {busiest.name}, {busiest.utilisation:.1%} of its capacity"]
    if whole:
        words += [
            "each node is one vertex; of its parallel cables the busiest counts" if run else "each node is one vertex"
        ]
    return " · ".join(words)


def _dress(ax: Axes, entries: list[Artist], title: str) -> None:
    ax.set_axis_off()
    assert ax.figure is not None
    letters = int(expected_width(ax) * 72 / ax.figure.dpi / _FONT / 0.53)
    ax.set_title(fold(title, letters), fontsize=_FONT, loc="left", color=INK)
    columns = max(1, min(len(entries), int(letters / (6 + max(len(str(entry.get_label())) for entry in entries)))))
    ax.legend(
        handles=entries, loc="upper left", bbox_to_anchor=(0, 0), ncols=columns, fontsize=7.5, frameon=False,
        handletextpad=0.4, columnspacing=1.1, borderaxespad=0.2,
    )  # fmt: skip
