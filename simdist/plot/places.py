"""Where does each vertex of a cluster stand in a picture?

Nodes stand side by side. Inside a node its devices are a row above their switch (a circle, if cables join them in pairs), the
network cards stand above them, and the switches of the network over the nodes, tier by tier: a switch's tier is the number of
cables to the nearest node. Where each node has a switch of its own and these are joined to each other (a torus of routers),
nodes and switches form a grid.

A large cluster is drawn with each node as one vertex.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import ceil, cos, pi, sin
from typing import NamedTuple

from simdist.cluster import Cluster
from simdist.cluster.node import Node

__all__ = ["KINDS", "Box", "Chart", "Vertex", "chart"]

KINDS = ("device", "fabric", "host", "nic", "node", "switch")
"""What a vertex can be."""

_GAP, _TIER, _MARGIN = 0.9, 1.7, 0.55
"""Between nodes, between tiers of switches, between a node's vertices and its frame; a device needs 1."""

_STEEP = 0.1
"""The least height of a tier as a share of the width: flat cables could not be told from each other."""


class Vertex(NamedTuple):
    """A vertex and its place.

    Attributes:
        name: as in the topology; of a node drawn as one: ``node3``.
        kind: one of ``KINDS``.
        x: to the right.
        y: upwards.
        label: a short name.
    """

    name: str
    kind: str
    x: float
    y: float
    label: str


class Box(NamedTuple):
    """The frame of a node: left, bottom, right, top, and its name."""

    left: float
    bottom: float
    right: float
    top: float
    label: str


class Chart(NamedTuple):
    """All vertices by name, and the frames of the nodes."""

    vertices: dict[str, Vertex]
    boxes: tuple[Box, ...]

    def vertex(self, name: str) -> Vertex:
        """The vertex that stands for ``name``: itself, or its node."""
        return self.vertices.get(name) or self.vertices[name.partition("/")[0]]


def chart(cluster: Cluster, whole_nodes: bool = False) -> Chart:
    """Place all vertices.

    Args:
        cluster: the machines.
        whole_nodes: draw each node as one vertex.
    """
    cells = [_whole(i) if whole_nodes else _cell(i, node, cluster) for i, node in enumerate(cluster.nodes)]
    neighbours = _neighbours(cluster)
    tiers = _tiers(neighbours)
    if grid := _grid(tiers, neighbours, len(cells)):
        return _placed_on_grid(cells, *grid)
    vertices: dict[str, Vertex] = {}
    boxes = []
    x = 0.0
    for cell in cells:
        moved, box = _moved(cell, x, None)
        vertices |= moved
        boxes.append(box)
        x = box.right + (0.0 if whole_nodes else _GAP)
    place = Chart(vertices, tuple(boxes))
    left, right = boxes[0].left, boxes[-1].right
    top = max(box.top for box in boxes)
    height = max(_TIER, _STEEP * (right - left))
    for tier, names in enumerate(tiers):
        wanted = {
            name: _mean(place.vertex(other).x for other in neighbours[name] if _known(place, other)) for name in names
        }
        for name, where in _spread(wanted, left, right).items():
            vertices[name] = Vertex(name, "switch", where, top + 0.55 * height + tier * height, name)
    return place


def _known(place: Chart, name: str) -> bool:
    return name in place.vertices or name.partition("/")[0] in place.vertices


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / max(1, len(found))


# ---- nodes


def _whole(index: int) -> list[Vertex]:
    return [Vertex(f"node{index}", "node", 0.0, 0.0, str(index))]


def _cell(index: int, node: Node, cluster: Cluster) -> list[Vertex]:
    """The vertices of one node, around its own origin."""
    prefix, number = f"node{index}", len(node.accelerators)
    first = next(d for d in range(cluster.num_devices) if cluster.node_of(d) == index)
    round_ = number > 2 and node.fabric is not None and node.layout != "switch"
    radius = number / (2 * pi) * 1.35 if round_ else 0.0
    cell = []
    for j in range(number):
        angle = pi / 2 + pi / number - 2 * pi * j / number  # clockwise, the first left of the top
        x, y = (radius * cos(angle), radius * sin(angle)) if round_ else (j - (number - 1) / 2, 0.0)
        cell.append(Vertex(f"{prefix}/device{j}", "device", x, y, str(first + j)))
    names = set(cluster.topology_vertices)
    below = [kind for kind in ("fabric", "host") if f"{prefix}/{kind}" in names and (kind == "host" or number > 1)]
    for place, kind in enumerate(below):
        x = 0.0 if len(below) == 1 else (place - 0.5) * max(1.0, number / 2)
        cell.append(Vertex(f"{prefix}/{kind}", kind, x, 0.0 if round_ else -1.3, "" if kind == "fabric" else "PCIe"))
    if not node.owns_nics and (len(cluster.nodes) > 1 or cluster.edges is not None):
        for card in range(node.num_nics):
            x = _mean(v.x for j, v in enumerate(cell[:number]) if node.nic_of(j) == card)
            x = x if not round_ else (card - (node.num_nics - 1) / 2) * max(1.0, 2 * radius / node.num_nics)
            cell.append(Vertex(f"{prefix}/nic{card}", "nic", x, radius + 1.2, f"NIC {card}"))
    return cell


def _moved(cell: list[Vertex], left: float, bottom: float | None) -> tuple[dict[str, Vertex], Box]:
    """A node's vertices with the left edge of its frame and the lower one at given places; None: the upper one at 0."""
    dx = left + _MARGIN - min(v.x for v in cell)
    dy = -max(v.y for v in cell) - _MARGIN if bottom is None else bottom + _MARGIN - min(v.y for v in cell)
    vertices = {v.name: v._replace(x=v.x + dx, y=v.y + dy) for v in cell}
    xs, ys = [v.x for v in vertices.values()], [v.y for v in vertices.values()]
    label = cell[0].name.partition("/")[0]
    return vertices, Box(min(xs) - _MARGIN, min(ys) - _MARGIN, max(xs) + _MARGIN, max(ys) + _MARGIN, label)


# ---- switches


def _in_node(name: str) -> bool:
    """Whether a vertex is a part of a node; all others are switches, whatever their names."""
    head, slash, _ = name.partition("/")
    return bool(slash) and head.startswith("node")


def _neighbours(cluster: Cluster) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for a, b, _ in cluster.topology.edges:
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
    return found


def _tiers(neighbours: Mapping[str, list[str]]) -> list[list[str]]:
    """The switches by number of cables to the nearest node, each tier in order of appearance."""
    queue = deque((name, 0) for name in neighbours if _in_node(name))
    depth: dict[str, int] = {}
    while queue:
        name, distance = queue.popleft()
        if name in depth:
            continue
        depth[name] = distance
        queue.extend((other, distance + 1) for other in neighbours[name] if not _in_node(other))
    switches = [name for name in neighbours if not _in_node(name)]
    tiers: list[list[str]] = [[] for _ in range(max([depth.get(name, 1) for name in switches], default=0))]
    for name in switches:
        tiers[depth.get(name, 1) - 1].append(name)
    return tiers


def _spread(wanted: Mapping[str, float], left: float, right: float) -> dict[str, float]:
    """Each at the place that it wants, if these are far enough apart; else all in equal distances."""
    order = sorted(wanted, key=lambda name: wanted[name])
    places = sorted(wanted.values())
    if all(b - a >= 1.2 for a, b in pairwise(places)):
        return dict(wanted)
    width = max(right - left, 1.3 * len(order))
    middle = (left + right) / 2
    return {name: middle + ((i + 0.5) / len(order) - 0.5) * width for i, name in enumerate(order)}


# ---- grids


def _grid(tiers: list[list[str]], neighbours: Mapping[str, list[str]], num_nodes: int) -> tuple[list[str], int] | None:
    """The switches in order of their nodes and the number of columns, if each node has one and these are joined."""
    if len(tiers) != 1 or len(tiers[0]) != num_nodes or num_nodes < 4:
        return None
    owner: dict[str, str] = {}
    for switch in tiers[0]:
        nodes = {name.partition("/")[0] for name in neighbours[switch] if _in_node(name)}
        if len(nodes) != 1:
            return None
        owner[nodes.pop()] = switch
    if len(owner) != num_nodes:
        return None
    order = [owner[f"node{i}"] for i in range(num_nodes)]
    number = {name: index for index, name in enumerate(order)}
    pairs = [(number[a], number[b]) for a in order for b in neighbours[a] if b in number and number[a] < number[b]]

    def near(columns: int) -> tuple[int, float, int]:
        close = sum(b - a == columns or (b - a == 1 and a // columns == b // columns) for a, b in pairs)
        return close, -abs(columns - num_nodes / columns), columns

    return order, max([c for c in range(1, num_nodes + 1) if num_nodes % c == 0], key=near)


def _placed_on_grid(cells: list[list[Vertex]], switches: list[str], columns: int) -> Chart:
    """Row by row from the top, each node left below its switch."""
    sizes = [_moved(cell, 0.0, 0.0)[1] for cell in cells]
    across = max(box.right - box.left for box in sizes) + 1.3
    down = max(box.top - box.bottom for box in sizes) + 1.3
    rows = ceil(len(cells) / columns)
    vertices: dict[str, Vertex] = {}
    boxes = []
    for index, (cell, switch) in enumerate(zip(cells, switches, strict=True)):
        row, column = divmod(index, columns)
        moved, box = _moved(cell, column * across, (rows - 1 - row) * down)
        vertices |= moved
        vertices[switch] = Vertex(switch, "switch", box.right + 0.5, box.top + 0.5, switch)
        boxes.append(box)
    return Chart(vertices, tuple(boxes))
