"""Which machines are there, and how are they joined?

A cluster is a list of nodes and the network between them. Devices are numbered node by node; rank r of a run is placed on
device r. Without ``edges`` the network is one switch that is never the bottleneck, and each node's network cards hang on
it; with ``edges`` the network is whatever they say (a fat tree, a torus of routers). A cluster is a value: equal
descriptions are equal, and it never changes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

from simdist.cluster.accelerator import Accelerator
from simdist.cluster.link import Link
from simdist.cluster.node import Node
from simdist.cluster.topology import DirectedLink, Edge, Route, Topology
from simdist.errors import ClusterError

__all__ = ["SWITCH", "Cluster"]

SWITCH = "switch"
"""The vertex between nodes, where no edges are given."""


@dataclass(frozen=True)
class Cluster:
    """A cluster.

    Args:
        name: for people and for the catalogue.
        nodes: at least one.
        edges: the network between nodes as (vertex, vertex, Link), or None for one switch. The vertices of node 3 are
            ``node3/nic0`` ... (and ``node3/device0`` ..., ``node3/host``, ``node3/fabric``); other names are new vertices.

    Raises:
        ClusterError: no nodes, nodes that cannot reach each other, edges to vertices that a node does not have.
    """

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if not self.nodes:
            raise ClusterError(f"{self._thing}: nodes is empty. A cluster has at least one node.")
        for node in self.nodes:
            if not isinstance(node, Node):
                raise ClusterError(f"{self._thing}: nodes must hold Node objects, got {node!r}.")
        if self.edges is not None:
            object.__setattr__(self, "edges", tuple(Edge(*edge) for edge in self.edges))
        self._check_names()
        self._check_network()

    def __getstate__(self) -> dict[str, Any]:
        """The description alone: routes are found again where they are needed."""
        return {key: getattr(self, key) for key in ("name", "nodes", "edges")}

    def __deepcopy__(self, memo: dict[int, Any]) -> Cluster:
        """A value that never changes is its own copy, however many ranks ask for one."""
        return self

    @property
    def _thing(self) -> str:
        return f"cluster {self.name!r}"

    def _check_names(self) -> None:
        seen: dict[str, Accelerator] = {}
        for device in dict.fromkeys(id_ for node in self._kinds for id_ in node.accelerators):
            if seen.setdefault(device.name, device) != device:
                raise ClusterError(f"{self._thing}: two different accelerators are named {device.name!r}. Rename one.")

    @property
    def _kinds(self) -> list[Node]:
        """The different node objects (a thousand equal nodes are usually one object)."""
        return list({id(node): node for node in self.nodes}.values())

    def _check_network(self) -> None:
        if self.edges is None:
            if len(self.nodes) > 1:
                for index, node in enumerate(self.nodes):
                    if node.nic is None:
                        raise ClusterError(
                            f"{self._thing}: no route from node {index} to the other {len(self.nodes) - 1} nodes: node "
                            f"{node.name!r} has no network card. Give it num_nics and nic=Link(...), or give edges."
                        )
            return
        self._check_vertices()
        for index in range(len(self.nodes)):
            for a, b in combinations(sorted({self._first_of(0), *self._devices_of(index)}), 2):
                self.topology.route(a, b)

    def _check_vertices(self) -> None:
        known = set(self.topology_vertices)
        for edge in self.edges or ():
            if not isinstance(edge.link, Link):
                raise ClusterError(f"{self._thing}: edge {edge.a} - {edge.b} must have a Link, got {edge.link!r}.")
            for vertex in edge[:2]:
                head, slash, _ = vertex.partition("/")
                if slash and head.startswith("node") and vertex not in known:
                    mine = [name for name in self.topology_vertices if name.startswith(head + "/")]
                    have = f"{head} has {', '.join(mine)}" if mine else f"nodes are node0..node{len(self.nodes) - 1}"
                    raise ClusterError(f"{self._thing}: edges name {vertex!r}, but {have}.")

    # ---- devices

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(node.accelerators) for node in self.nodes))

    def _first_of(self, index: int) -> int:
        return self._ends[index] - len(self.nodes[index].accelerators)

    def _devices_of(self, index: int) -> range:
        return range(self._first_of(index), self._ends[index])

    @property
    def num_devices(self) -> int:
        """Accelerators of all nodes together."""
        return self._ends[-1]

    def node_of(self, rank: int) -> int:
        """Index of the node that holds device ``rank``.

        Raises:
            ClusterError: there is no such device.
        """
        if not 0 <= rank < self.num_devices:
            raise ClusterError(f"{self._thing} has no device {rank}: devices are 0..{self.num_devices - 1}.")
        return bisect_right(self._ends, rank)

    def device(self, rank: int) -> Accelerator:
        """The accelerator that rank ``rank`` runs on.

        Raises:
            ClusterError: there is no such device.
        """
        index = self.node_of(rank)
        return self.nodes[index].accelerators[rank - self._first_of(index)]

    def check_world_size(self, world_size: int) -> None:
        """Refuse more ranks than devices.

        Raises:
            ClusterError: with the sizes and what to try.
        """
        if isinstance(world_size, bool) or not isinstance(world_size, int) or world_size < 1:
            raise ClusterError(f"world_size must be an integer of at least 1, got {world_size!r}.")
        if world_size > self.num_devices:
            raise ClusterError(
                f"world_size={world_size}, but cluster {self.name!r} has {self.num_devices} "
                f"device{'s' if self.num_devices > 1 else ''}. Use a smaller world_size, or a larger cluster: "
                f"clusters.get({self.name!r}, num_devices={world_size}) if it is a preset that can grow, or more nodes."
            )

    # ---- network

    @cached_property
    def topology(self) -> Topology:
        """The graph of all nodes and the network."""
        names = [f"node{i}/device{j}" for i, node in enumerate(self.nodes) for j in range(len(node.accelerators))]
        return Topology(names, self._all_edges())

    @cached_property
    def topology_vertices(self) -> tuple[str, ...]:
        """The names that ``edges`` may use for parts of nodes."""
        names: list[str] = []
        for i, node in enumerate(self.nodes):
            names += [f"node{i}/device{j}" for j in range(len(node.accelerators))]
            names += [f"node{i}/nic{j}" for j in range(node.num_nics)]
            names += [f"node{i}/fabric"] if node.fabric is not None and node.layout == "switch" else []
            names += [f"node{i}/host"] if node.host is not None else []
        return tuple(names)

    def _all_edges(self) -> list[Edge]:
        edges: list[Edge] = []
        for index, node in enumerate(self.nodes):
            edges += _inside(f"node{index}", node)
            if len(self.nodes) > 1 and self.edges is None and node.nic is not None:
                edges += [Edge(_port(f"node{index}", node, card), SWITCH, node.nic) for card in range(node.num_nics)]
            if (len(self.nodes) > 1 or self.edges is not None) and node.nic is not None and not node.owns_nics:
                edges += _to_cards(f"node{index}", node)
        for edge in self.edges or ():
            edges.append(Edge(self._resolved(edge.a), self._resolved(edge.b), edge.link))
        return edges

    def _resolved(self, vertex: str) -> str:
        """An accelerator that has a network card to itself *is* the card's vertex."""
        head, _, tail = vertex.partition("/nic")
        if tail and head.startswith("node") and self.nodes[int(head[4:])].owns_nics:
            return f"{head}/device{tail}"
        return vertex

    @property
    def links(self) -> Sequence[DirectedLink]:
        """Every directed link; a route's ids are positions here."""
        return self.topology.links

    def route(self, src: int, dst: int) -> Route:
        """The way from device ``src`` to device ``dst`` (found once, then kept).

        Raises:
            ClusterError: no such device, or no way; both ends are named.
        """
        return self.topology.route(src, dst)

    # ---- other forms

    def with_nodes(self, number: int) -> Cluster:
        """``number`` copies of the first node on one switch, under the same name."""
        return replace(self, nodes=(self.nodes[0],) * number, edges=None)

    @classmethod
    def from_toml(cls, source: str | Path) -> Cluster:
        """Read a description: the path of a file, or the text itself.

        Raises:
            ClusterError: naming key and value of what is wrong.
        """
        from simdist.cluster import description

        return description.load(source)

    def to_toml(self) -> str:
        """The description as TOML; reading it back gives an equal cluster."""
        from simdist.cluster import description

        return description.dump(self)

    def save(self, path: str | Path) -> None:
        """Write ``to_toml()`` to a file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")


def _port(prefix: str, node: Node, card: int) -> str:
    return f"{prefix}/device{card}" if node.owns_nics else f"{prefix}/nic{card}"


def _inside(prefix: str, node: Node) -> list[Edge]:
    """The cables between the accelerators of one node."""
    number = len(node.accelerators)
    names = [f"{prefix}/device{j}" for j in range(number)]
    edges: list[Edge] = []
    if node.fabric is not None and number > 1:
        if node.layout == "switch":
            edges += [Edge(name, f"{prefix}/fabric", node.fabric) for name in names]
        elif node.layout == "mesh":
            edges += [Edge(a, b, node.fabric) for a, b in combinations(names, 2)]
        else:
            edges += [Edge(names[i], names[j], node.fabric.times(wires)) for i, j, wires in node.wires]
    if node.host is not None:
        edges += [Edge(name, f"{prefix}/host", node.host) for name in names]
    return edges


def _to_cards(prefix: str, node: Node) -> list[Edge]:
    """From each accelerator to the card it shares: never slower than the card, and its latency is the card's."""
    assert node.nic is not None, "only called for nodes with cards"
    inner = Link(node.nic.bandwidth, 0.0, "full", "to the card")
    return [Edge(f"{prefix}/device{j}", f"{prefix}/nic{node.nic_of(j)}", inner) for j in range(len(node.accelerators))]
