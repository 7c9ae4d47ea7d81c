"""Which way messages go in large machines, what two halves can exchange, and what is refused."""

from __future__ import annotations

import pytest

from simdist.cluster import Accelerator, Cluster, Link, Node, fabric
from simdist.errors import ClusterError

DEVICE = Accelerator("chip", {"float32": 1e12}, 1e9, 1e9)
NODE = Node((DEVICE,), num_nics=1, nic=Link(100.0, 1.0))
QUAD = Node((DEVICE,) * 4, fabric=Link(1000.0), num_nics=4, nic=Link(100.0, 1.0))


def path(cluster: Cluster, src: int, dst: int) -> list[str]:
    return [cluster.links[index].name for index in cluster.route(src, dst).links]


def bisection(cluster: Cluster, left: set[str]) -> float:
    """Bytes per second from the vertices ``left`` to the others."""
    total = 0.0
    for edge in cluster.topology.edges:
        if (edge.a in left) != (edge.b in left):
            total += edge.link.bandwidth
    return total


@pytest.mark.parametrize(("ratio", "uplink"), [(1.0, 400.0), (4.0, 100.0)])
def test_a_leaf_lets_out_what_its_cards_carry_over_the_ratio(ratio: float, uplink: float) -> None:
    cluster = fabric.leaf_spine(NODE, 2, 4, ratio=ratio)
    assert cluster.num_devices == 8
    assert path(cluster, 0, 1) == ["node0/device0 > leaf0", "leaf0 > node1/device0"]
    assert path(cluster, 0, 4)[1:3] == ["leaf0 > spine", "spine > leaf1"]
    assert bisection(cluster, {"leaf0", *(f"node{i}/device0" for i in range(4))}) == uplink
    assert Cluster.from_toml(cluster.to_toml()) == cluster


def test_a_fat_tree_of_four_ports() -> None:
    cluster = fabric.fat_tree(NODE, 4)
    assert cluster.num_devices == 16
    lengths = {len(cluster.route(0, other).links) for other in (2, 4, 15)}
    assert (len(cluster.route(0, 1).links), lengths) == (2, {4, 6})
    half = {f"node{i}/device0" for i in range(8)}
    half |= {f"pod{pod}-{kind}{i}" for pod in range(2) for kind in ("edge", "up") for i in range(2)}
    assert bisection(cluster, half) == 8 * 100.0


@pytest.mark.parametrize(("shape", "far", "hops"), [((4, 4), 10, 4), ((2, 2, 2), 7, 3), ((5,), 3, 2)])
def test_in_a_torus_the_way_round_the_edge_is_taken(shape: tuple[int, ...], far: int, hops: int) -> None:
    cluster = fabric.torus(NODE, shape, Link(50.0))
    assert len(cluster.route(0, far).links) == hops + 2
    assert Cluster.from_toml(cluster.to_toml()) == cluster


def test_the_bisection_of_a_torus_is_cut_twice() -> None:
    cluster = fabric.torus(NODE, (4, 4), Link(50.0))
    half = {f"router{i}" for i in range(8)} | {f"node{i}/device0" for i in range(8)}
    assert bisection(cluster, half) == 2 * 4 * 50.0


def test_equal_cards_meet_on_their_rail_others_over_the_spine() -> None:
    cluster = fabric.rails(QUAD, 2)
    assert path(cluster, 1, 5) == ["node0/device1 > rail1", "rail1 > node1/device1"]
    assert path(cluster, 1, 6)[1:3] == ["rail1 > spine", "spine > rail2"]
    assert len(cluster.route(0, 3).links) == 2


def test_what_cannot_be_built_is_refused() -> None:
    alone = Node((DEVICE,))
    with pytest.raises(ClusterError, match=r"fat_tree: k must be even, got 3: half of a switch's ports"):
        fabric.fat_tree(NODE, 3)
    with pytest.raises(ClusterError, match=r"leaf_spine: node 'node' has no network card\. Give it num_nics"):
        fabric.leaf_spine(alone, 2, 2)
    with pytest.raises(ClusterError, match=r"torus: shape is empty"):
        fabric.torus(NODE, (), Link(1.0))
    with pytest.raises(ClusterError, match=r"rails: num_nodes must be an integer of at least 1, got 0"):
        fabric.rails(QUAD, 0)
    with pytest.raises(ClusterError, match=r"leaf_spine: ratio must be a finite number above 0"):
        fabric.leaf_spine(NODE, 2, 2, ratio=0)
