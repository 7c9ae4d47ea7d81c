"""How are the nodes of a large machine joined?

Constructors of the ``edges`` of a ``Cluster``: each returns a frozen description as if it had been written by hand, so it
can be saved as TOML, and its routes can be looked at. Every network card of a node hangs on the node's switch.

* ``leaf_spine``: nodes in groups under leaf switches; all leaves on one spine. *Oversubscription* is the bandwidth of a
  leaf's cards over that of its uplink: with 1 the leaf is never a bottleneck, with 4 a quarter of it gets out at a time.
* ``fat_tree``: three tiers of switches with k ports (Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center
  network architecture", SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k^3/4 nodes, full
  bisection. Routes are fixed, one per pair, as with static routing: flows may collide in spite of it.
* ``torus``: a router per node, joined to its neighbours in each dimension, round the edge too (Dally and Towles,
  "Principles and practices of interconnection networks", 2004, chapter 5).
* ``rails``: card j of every node hangs on rail switch j; ranks with equal numbers meet within their rail, others by way of a
  spine (Wang et al., "Rail-only: a low-cost high-performance network for training LLMs", arXiv:2307.12169, section 2).
"""

from __future__ import annotations

from itertools import product
from math import prod

from simdist.cluster import field
from simdist.cluster.cluster import Cluster
from simdist.cluster.link import Link
from simdist.cluster.node import Node
from simdist.cluster.topology import Edge
from simdist.errors import ClusterError

__all__ = ["fat_tree", "leaf_spine", "rails", "torus"]


def _nic(thing: str, node: Node) -> Link:
    if node.nic is None:
        raise ClusterError(f"{thing}: node {node.name!r} has no network card. Give it num_nics and nic=Link(...).")
    return node.nic


def _cards(index: int, node: Node, switch: str) -> list[Edge]:
    assert node.nic is not None
    return [Edge(f"node{index}/nic{card}", switch, node.nic) for card in range(node.num_nics)]


def leaf_spine(
    node: Node,
    num_leaves: int,
    nodes_per_leaf: int,
    *,
    ratio: float = 1.0,
    latency: float | None = None,
    name: str = "",
) -> Cluster:
    """Leaf switches under a spine.

    Args:
        node: what every node is; it has a network card.
        num_leaves: number of leaf switches.
        nodes_per_leaf: nodes under each.
        ratio: oversubscription: bandwidth of a leaf's cards over the bandwidth of its uplink.
        latency: seconds of an uplink; None: as a card's.
        name: of the cluster.

    Raises:
        ClusterError: a node without a card, a number below 1, a ratio that is not above 0.
    """
    thing = "leaf_spine"
    nic = _nic(thing, node)
    leaves = field.count(thing, "num_leaves", num_leaves, 1)
    each = field.count(thing, "nodes_per_leaf", nodes_per_leaf, 1)
    rate = nic.bandwidth * node.num_nics * each / field.positive(thing, "ratio", ratio)
    uplink = Link(rate, nic.latency if latency is None else latency, nic.duplex, "uplink")
    edges = [cable for i in range(leaves * each) for cable in _cards(i, node, f"leaf{i // each}")]
    edges += [Edge(f"leaf{leaf}", "spine", uplink) for leaf in range(leaves)]
    return Cluster(name or f"leaf-spine {ratio:g}:1", (node,) * (leaves * each), tuple(edges))


def fat_tree(node: Node, k: int, *, name: str = "") -> Cluster:
    """A fat tree of switches with ``k`` ports, with k^3/4 nodes.

    Args:
        node: what every node is; its cards' cable is used between switches too.
        k: ports of each switch, an even number.
        name: of the cluster.

    Raises:
        ClusterError: a node without a card; k odd or below 2.
    """
    thing = "fat_tree"
    nic = _nic(thing, node)
    half, odd = divmod(field.count(thing, "k", k, 2), 2)
    if odd:
        raise ClusterError(f"{thing}: k must be even, got {k}: half of a switch's ports go up, half down.")
    between = nic.times(node.num_nics)
    edges: list[Edge] = []
    for pod, edge in product(range(k), range(half)):
        first = (pod * half + edge) * half
        edges += [c for i in range(first, first + half) for c in _cards(i, node, f"pod{pod}-edge{edge}")]
    for pod, up in product(range(k), range(half)):
        edges += [Edge(f"pod{pod}-edge{edge}", f"pod{pod}-up{up}", between) for edge in range(half)]
        edges += [Edge(f"pod{pod}-up{up}", f"core{up * half + core}", between) for core in range(half)]
    return Cluster(name or f"fat tree k={k}", (node,) * (k * half * half), tuple(edges))


def torus(node: Node, shape: tuple[int, ...], link: Link, *, name: str = "") -> Cluster:
    """A torus of routers, one per node; node numbers count the last dimension fastest.

    Args:
        node: what every node is; its cards hang on its router.
        shape: nodes in each dimension.
        link: the cable between neighbours (a dimension of two has one cable for each pair).
        name: of the cluster.

    Raises:
        ClusterError: a node without a card, no dimension, a dimension below 1.
    """
    thing = "torus"
    _nic(thing, node)
    sizes = tuple(field.count(thing, "shape", size, 1) for size in shape)
    if not sizes:
        raise ClusterError(f"{thing}: shape is empty. Give the number of nodes in each dimension: (4, 4).")
    places = list(product(*map(range, sizes)))
    numbers = {place: index for index, place in enumerate(places)}
    pairs: dict[tuple[int, int], None] = {}
    for place in places:
        for axis, size in enumerate(sizes):
            there = numbers[*place[:axis], (place[axis] + 1) % size, *place[axis + 1 :]]
            here = numbers[place]
            if here != there:
                pairs[min(here, there), max(here, there)] = None
    edges = [cable for index in range(len(places)) for cable in _cards(index, node, f"router{index}")]
    edges += [Edge(f"router{a}", f"router{b}", link) for a, b in pairs]
    label = "x".join(map(str, sizes))
    return Cluster(name or f"torus {label}", (node,) * prod(sizes), tuple(edges))


def rails(node: Node, num_nodes: int, *, ratio: float = 1.0, name: str = "") -> Cluster:
    """A switch for each card number, and a spine over them.

    Args:
        node: what every node is; it has at least one network card.
        num_nodes: number of nodes.
        ratio: oversubscription of the way to the spine.
        name: of the cluster.

    Raises:
        ClusterError: a node without a card, a number below 1, a ratio that is not above 0.
    """
    thing = "rails"
    nic = _nic(thing, node)
    number = field.count(thing, "num_nodes", num_nodes, 1)
    uplink = Link(nic.bandwidth * number / field.positive(thing, "ratio", ratio), nic.latency, nic.duplex, "uplink")
    edges = [Edge(f"node{i}/nic{card}", f"rail{card}", nic) for i in range(number) for card in range(node.num_nics)]
    edges += [Edge(f"rail{card}", "spine", uplink) for card in range(node.num_nics)]
    return Cluster(name or "rails", (node,) * number, tuple(edges))
