"""Which way does a message go, and who else uses that way?

Vertices are named: ``node0/device3``, ``node0/fabric``, ``node0/host``, ``node0/nic1``, ``switch``, or anything a
description invents. Edges are cables. A full-duplex edge is two *directed links*, each with the whole bandwidth; a
half-duplex edge is one directed link that both directions use.

A route is the path with the fewest links; among those the smallest latency; among those the vertex that was named first:
always the same one. Devices do not forward, so a device can only be the end of a route (Dijkstra 1959 over the other
vertices, from one device at a time, kept).

**Owner.** Because devices do not forward, a link that touches a device carries only messages to or from that device: it is
the device's own port, and its *owner*. The same holds along a chain of vertices that lead nowhere else. Any other link is
shared, owner None. The simulator books own links without asking anybody; shared ones need an order among the senders.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from simdist.cluster.link import Link
from simdist.errors import ClusterError

__all__ = ["DirectedLink", "Edge", "Route", "Topology"]


class Edge(NamedTuple):
    """A cable between two vertices."""

    a: str
    b: str
    link: Link


class DirectedLink(NamedTuple):
    """One direction of a cable (both, if it is half duplex).

    ``owner`` is the one device whose messages alone pass here, or None if the link is shared.
    """

    name: str
    bandwidth: float
    latency: float
    owner: int | None


class Route(NamedTuple):
    """The way from one device to another.

    ``links`` are ids into ``Topology.links`` in order; ``latency`` is their sum in seconds, ``bandwidth`` the smallest in
    bytes per second; ``owned`` says that every link belongs to the source or the destination.
    """

    links: tuple[int, ...]
    latency: float
    bandwidth: float
    owned: bool


_HERE = Route((), 0.0, float("inf"), True)


class Topology:
    """The graph. State: the routes already found.

    Args:
        devices: vertex names of the devices, in the order of ranks.
        edges: the cables; each pair of vertices at most once.

    Raises:
        ClusterError: an edge from a vertex to itself, or a pair joined twice.
    """

    def __init__(self, devices: Sequence[str], edges: Sequence[Edge]) -> None:
        self.devices = tuple(devices)
        self.edges = tuple(edges)
        self._ids: dict[str, int] = {name: index for index, name in enumerate(self.devices)}
        self._names: list[str] = list(self.devices)
        self._out: list[dict[int, int]] = [{} for _ in self.devices]
        self._half: list[tuple[str, Link, int, int]] = []
        for edge in self.edges:
            self._add(edge)
        self._forwarding = [[w for w in out if w >= len(self.devices)] for out in self._out]
        self._trees: dict[int, dict[int, tuple[int, float, int]]] = {}
        self._routes: dict[tuple[int, int], Route] = {}

    def _vertex(self, name: str) -> int:
        index = self._ids.get(name)
        if index is None:
            index = self._ids[name] = len(self._names)
            self._names.append(name)
            self._out.append({})
        return index

    def _add(self, edge: Edge) -> None:
        a, b = self._vertex(edge.a), self._vertex(edge.b)
        if a == b:
            raise ClusterError(f"an edge joins {edge.a!r} to itself. Give two different vertices.")
        if b in self._out[a]:
            raise ClusterError(f"two edges join {edge.a!r} and {edge.b!r}. Give one, with the bandwidth of both.")
        sign = " - " if edge.link.duplex == "half" else " > "
        self._out[a][b] = len(self._half)
        self._half.append((edge.a + sign + edge.b, edge.link, a, b))
        if edge.link.duplex == "half":
            self._out[b][a] = self._out[a][b]
        else:
            self._out[b][a] = len(self._half)
            self._half.append((edge.b + sign + edge.a, edge.link, b, a))

    @cached_property
    def links(self) -> tuple[DirectedLink, ...]:
        """Every directed link; the position is the id."""
        owners = self._owners()
        return tuple(
            DirectedLink(name, link.bandwidth, link.latency, owners.get(index))
            for index, (name, link, _, _) in enumerate(self._half)
        )

    def _owners(self) -> dict[int, int]:
        """Link id -> device, for every link that touches a device or a chain hanging from one."""
        owners: dict[int, int] = {}
        devices = len(self.devices)
        for device in range(devices):
            for there in self._out[device]:
                here = device
                owners.setdefault(self._out[here][there], device)
                while there >= devices:
                    owners.setdefault(self._out[here][there], device)
                    owners.setdefault(self._out[there][here], device)
                    if len(self._out[there]) != 2:
                        break
                    here, there = there, next(vertex for vertex in self._out[there] if vertex != here)
                    if self._out[here][there] in owners:
                        break
        return owners

    def route(self, src: int, dst: int) -> Route:
        """The way from device ``src`` to device ``dst``; no links if they are the same.

        Raises:
            ClusterError: there is no such device, or no way; both ends are named.
        """
        route = self._routes.get((src, dst))
        if route is None:
            route = self._routes[src, dst] = self._find(src, dst)
        return route

    def _find(self, src: int, dst: int) -> Route:
        for rank in (src, dst):
            if not 0 <= rank < len(self.devices):
                raise ClusterError(
                    f"no route from device {src} to device {dst}: devices are 0..{len(self.devices) - 1}."
                )
        if src == dst:
            return _HERE
        path = self._path(src, dst)
        links = tuple(self._out[a][b] for a, b in pairwise(path))
        table = self.links
        return Route(
            links,
            sum(table[index].latency for index in links),
            min(table[index].bandwidth for index in links),
            all(table[index].owner in (src, dst) for index in links),
        )

    def _path(self, src: int, dst: int) -> list[int]:
        if dst in self._out[src]:
            return [src, dst]
        tree = self._trees.get(src)
        if tree is None:
            tree = self._trees[src] = self._tree(src)
        last = [
            (tree[via][0], tree[via][1] + self._half[self._out[via][dst]][1].latency, via)
            for via in self._forwarding[dst]
            if via in tree
        ]
        if not last:
            raise ClusterError(
                f"no route from {self._names[src]} to {self._names[dst]}. Devices do not forward: join them by an edge, or "
                f"both to vertices that are joined (switches, network cards)."
            )
        path = [dst]
        vertex = min(last)[2]
        while vertex != src:
            path.append(vertex)
            vertex = tree[vertex][2]
        path.append(src)
        return path[::-1]

    def _tree(self, src: int) -> dict[int, tuple[int, float, int]]:
        """Shortest paths from ``src`` over forwarding vertices: vertex -> (links, latency, vertex before)."""
        tree: dict[int, tuple[int, float, int]] = {}
        queue: list[tuple[int, float, int, int]] = [(0, 0.0, src, src)]
        while queue:
            hops, latency, vertex, before = heapq.heappop(queue)
            if vertex in tree:
                continue
            tree[vertex] = (hops, latency, before)
            for onward in self._forwarding[vertex]:
                if onward not in tree:
                    link = self._half[self._out[vertex][onward]][1]
                    heapq.heappush(queue, (hops + 1, latency + link.latency, onward, vertex))
        return tree
