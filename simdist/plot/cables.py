"""Along which line does a cable run in a picture?

Both directions of a full-duplex cable are drawn, side by side, traffic keeping to the right. A cable between two vertices of
one kind that would pass over others is bent, upwards and to the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import NamedTuple

from simdist.cluster import Cluster
from simdist.plot.places import Chart, Vertex

__all__ = ["Line", "Points", "arrow", "lines_of", "path"]

_BEND, _MOST, _SIDE = 0.22, 0.9, 0.075
"""How far a cable that passes over others is bent: a share of its length, at most; half the distance of two directions."""

Points = list[tuple[float, float]]
"""Places along a line: (x, y)."""


class Line(NamedTuple):
    """One direction of a cable, as it is drawn.

    Attributes:
        start: the vertex from which it goes.
        end: where it ends.
        links: the numbers of the directed links that it stands for (several where nodes are drawn as one vertex).
        both: whether it carries both directions (half duplex).
    """

    start: str
    end: str
    links: tuple[int, ...]
    both: bool


def lines_of(cluster: Cluster, place: Chart) -> list[Line]:
    """The lines to draw: each directed link, those that lie inside a vertex left out, parallel ones together.

    Args:
        cluster: the machines.
        place: where the vertices are.
    """
    found: dict[tuple[str, str, bool], list[int]] = {}
    for index, link in enumerate(cluster.links):
        both = " - " in link.name
        a, b = (place.vertex(name).name for name in link.name.split(" - " if both else " > "))
        if a != b:
            found.setdefault((a, b, both), []).append(index)
    return [Line(a, b, tuple(links), both) for (a, b, both), links in found.items()]


def path(place: Chart, line: Line) -> Points:
    """The points of a line: beside the line of the other direction, bent where it would pass over other vertices."""
    a, b = place.vertices[line.start], place.vertices[line.end]
    dx, dy = b.x - a.x, b.y - a.y
    length = hypot(dx, dy) or 1.0
    nx, ny = dy / length, -dx / length  # to the right
    side = 0.0 if line.both else _SIDE
    bend = min(_MOST, _BEND * length) if a.kind == b.kind and _passes_over(place, a, b) else 0.0
    if nx + ny < 0:  # both directions are bent to the same side: upwards, to the right
        bend = -bend
    start, end = (a.x + side * nx, a.y + side * ny), (b.x + side * nx, b.y + side * ny)
    if not bend:
        return [start, end]
    middle = ((start[0] + end[0]) / 2 + 2 * bend * nx, (start[1] + end[1]) / 2 + 2 * bend * ny)
    steps = [i / 16 for i in range(17)]
    return [
        (
            (1 - t) ** 2 * start[0] + 2 * t * (1 - t) * middle[0] + t * t * end[0],
            (1 - t) ** 2 * start[1] + 2 * t * (1 - t) * middle[1] + t * t * end[1],
        )
        for t in steps
    ]


def _passes_over(place: Chart, a: Vertex, b: Vertex) -> bool:
    """Whether another vertex lies on the straight line between the two."""
    dx, dy = b.x - a.x, b.y - a.y
    length = hypot(dx, dy) or 1.0
    for v in place.vertices.values():
        along = ((v.x - a.x) * dx + (v.y - a.y) * dy) / length
        across = abs((v.x - a.x) * dy - (v.y - a.y) * dx) / length
        if 0.3 < along < length - 0.3 and across < 0.2:
            return True
    return False


def arrow(along: Sequence[tuple[float, float]]) -> Points:
    """A small triangle on the path, a little beyond its middle."""
    at = max(1, round(0.6 * (len(along) - 1))) if len(along) > 2 else 1
    (x0, y0), (x1, y1) = along[at - 1], along[at]
    length = hypot(x1 - x0, y1 - y0) or 1.0
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    x, y = (x0 + 0.6 * (x1 - x0), y0 + 0.6 * (y1 - y0)) if len(along) == 2 else (x1, y1)
    return [
        (x + 0.12 * ux, y + 0.12 * uy),
        (x - 0.07 * ux + 0.07 * uy, y - 0.07 * uy - 0.07 * ux),
        (x - 0.07 * ux - 0.07 * uy, y - 0.07 * uy + 0.07 * ux),
    ]
