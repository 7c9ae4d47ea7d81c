"""Are devices numbered and joined as described?"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from simdist.cluster import Accelerator, Cluster, Edge, Link, Node
from simdist.errors import ClusterError
from simdist.units import GB, gbit, us

A = Accelerator("a", {"float32": 1e12}, 1e9, 1e9)
B = Accelerator("b", {"float32": 2e12}, 1e9, 1e9)
FABRIC = Link(300 * GB, 0.3 * us, name="fabric")
NIC = Link(gbit(200), 1 * us, name="nic")


def box(count: int = 4, nics: int = 4, layout: str = "switch", device: Accelerator = A) -> Node:
    return Node((device,) * count, fabric=FABRIC, layout=layout, num_nics=nics, nic=NIC if nics else None)


def names(cluster: Cluster, src: int, dst: int) -> list[str]:
    return [cluster.links[index].name for index in cluster.route(src, dst).links]


def test_devices_are_numbered_node_by_node() -> None:
    cluster = Cluster("c", (box(4), box(2, 2, device=B), box(1, 1)))
    assert cluster.num_devices == 7
    assert [cluster.node_of(rank) for rank in range(7)] == [0, 0, 0, 0, 1, 1, 2]
    assert [cluster.device(rank).name for rank in range(7)] == ["a"] * 4 + ["b"] * 2 + ["a"]


@pytest.mark.parametrize("rank", [-1, 4])
def test_a_rank_that_is_not_there(rank: int) -> None:
    cluster = Cluster("c", (box(4),))
    for ask in (cluster.device, cluster.node_of):
        with pytest.raises(ClusterError, match=rf"cluster 'c' has no device {rank}: devices are 0\.\.3\."):
            ask(rank)


def test_inside_a_node_through_the_switch_between_nodes_through_ones_own_card() -> None:
    cluster = Cluster("c", (box(), box()))
    assert names(cluster, 0, 3) == ["node0/device0 > node0/fabric", "node0/fabric > node0/device3"]
    assert names(cluster, 0, 5) == ["node0/device0 > switch", "switch > node1/device1"]
    assert cluster.route(0, 3)[1:] == (0.6 * us, 300 * GB, True)
    assert cluster.route(0, 5)[1:] == (2 * us, 25 * GB, True)


def test_a_mesh_has_a_cable_for_each_pair() -> None:
    cluster = Cluster("c", (box(3, 0, "mesh"),))
    assert len(cluster.links) == 6
    assert names(cluster, 2, 0) == ["node0/device2 > node0/device0"]
    assert cluster.route(2, 0).owned


def test_wires_side_by_side_add_up_and_the_rest_goes_over_the_host() -> None:
    node = Node((A,) * 3, fabric=FABRIC, layout="wires", wires=((0, 1, 2),), host=Link(1 * GB, 1 * us))
    cluster = Cluster("c", (node,))
    assert cluster.route(0, 1).bandwidth == 600 * GB
    assert names(cluster, 0, 2) == ["node0/device0 > node0/host", "node0/host > node0/device2"]


def test_a_card_for_two_is_shared_and_costs_its_latency_once_on_each_side() -> None:
    cluster = Cluster("c", (box(4, 2), box(4, 2)))
    route = cluster.route(1, 7)
    assert names(cluster, 1, 7) == [
        "node0/device1 > node0/nic0", "node0/nic0 > switch", "switch > node1/nic1", "node1/nic1 > node1/device3",
    ]  # fmt: skip
    assert route.latency == 2 * us
    assert route.bandwidth == 25 * GB
    assert not route.owned
    assert [cluster.links[index].owner for index in route.links] == [1, None, None, 7]


def test_one_node_alone_has_no_network() -> None:
    assert all("switch" not in link.name and "nic" not in link.name for link in Cluster("c", (box(4, 2),)).links)


def test_edges_describe_any_network_between_cards() -> None:
    edges = [
        ("node0/nic0", "leaf0", NIC), ("node0/nic1", "leaf0", NIC), ("node1/nic0", "leaf1", NIC), ("node1/nic1", "leaf1", NIC),
        ("leaf0", "spine", Link(gbit(800), 0.5 * us)), ("leaf1", "spine", Link(gbit(800), 0.5 * us)),
    ]  # fmt: skip
    cluster = Cluster("tree", (box(2, 2), box(2, 2)), edges)  # type: ignore[arg-type]
    assert names(cluster, 0, 3) == ["node0/device0 > leaf0", "leaf0 > spine", "spine > leaf1", "leaf1 > node1/device1"]
    assert cluster.route(0, 3).latency == pytest.approx(3 * us)
    assert not cluster.route(0, 3).owned
    shared = Cluster("tree", (box(4, 1), box(4, 1)), [Edge("node0/nic0", "s", NIC), Edge("s", "node1/nic0", NIC)])  # type: ignore[arg-type]
    assert names(shared, 2, 5) == [
        "node0/device2 > node0/nic0",
        "node0/nic0 > s",
        "s > node1/nic0",
        "node1/nic0 > node1/device1",
    ]


def test_edges_that_leave_a_device_alone_name_both_ends() -> None:
    with pytest.raises(ClusterError, match=r"no route from node0/device0 to node1/device0\. Devices do not forward"):
        Cluster("c", (box(1, 1), box(1, 1)), (Edge("node0/nic0", "s", NIC),))


def test_edges_may_not_name_parts_that_a_node_does_not_have() -> None:
    with pytest.raises(ClusterError) as error:
        Cluster("c", (box(1, 1), box(1, 1)), (Edge("node0/nic1", "s", NIC),))
    assert (
        str(error.value)
        == "cluster 'c': edges name 'node0/nic1', but node0 has node0/device0, node0/nic0, node0/fabric."
    )
    with pytest.raises(ClusterError, match=r"edges name 'node7/nic0', but nodes are node0\.\.node1\."):
        Cluster("c", (box(1, 1), box(1, 1)), (Edge("node7/nic0", "s", NIC),))
    with pytest.raises(ClusterError, match=r"cluster 'c': edge node0/nic0 - s must have a Link, got 5\."):
        Cluster("c", (box(1, 1),), (("node0/nic0", "s", 5),))  # type: ignore[arg-type]


def test_a_node_without_a_card_cannot_be_one_of_several() -> None:
    with pytest.raises(ClusterError) as error:
        Cluster("c", (box(), box(4, 0)))
    assert str(error.value) == (
        "cluster 'c': no route from node 1 to the other 1 nodes: node 'node' has no network card. Give it num_nics and "
        "nic=Link(...), or give edges."
    )


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ((), "cluster 'c': nodes is empty. A cluster has at least one node."),
        (("node",), "cluster 'c': nodes must hold Node objects, got 'node'."),
        (
            (box(1, 1), box(1, 1, device=Accelerator("a", {"float32": 9.0}, 1.0, 1.0))),
            "cluster 'c': two different accelerators are named 'a'. Rename one.",
        ),
    ],
)
def test_a_cluster_that_cannot_be_is_refused(nodes: tuple[Node, ...], text: str) -> None:
    with pytest.raises(ClusterError) as error:
        Cluster("c", nodes)
    assert str(error.value) == text


def test_more_ranks_than_devices_is_refused_with_what_to_try() -> None:
    cluster = Cluster("mine", (box(4),))
    cluster.check_world_size(4)
    with pytest.raises(ClusterError) as error:
        cluster.check_world_size(5)
    assert str(error.value) == (
        "world_size=5, but cluster 'mine' has 4 devices. Use a smaller world_size, or a larger cluster: "
        "clusters.get('mine', num_devices=5) if it is a preset that can grow, or more nodes."
    )
    for value in (0, -1, 1.0, True, "4"):
        with pytest.raises(ClusterError) as error:
            cluster.check_world_size(value)  # type: ignore[arg-type]
        assert str(error.value) == f"world_size must be an integer of at least 1, got {value!r}."


def test_a_cluster_is_a_value() -> None:
    asked = Cluster("c", [box(), box()])  # type: ignore[arg-type]
    asked.route(0, 5)
    assert asked == Cluster("c", (box(), box()))
    assert hash(asked) == hash(Cluster("c", (box(), box())))
    assert asked != Cluster("c", (box(),))


def test_it_travels_as_its_description_and_is_its_own_copy() -> None:
    asked = Cluster("c", (box(), box()))
    small = len(pickle.dumps(asked))
    asked.route(0, 5)
    assert len(pickle.dumps(asked)) == small
    again = pickle.loads(pickle.dumps(asked))
    assert again == asked
    assert again.route(0, 5) == asked.route(0, 5)
    assert copy.deepcopy([asked])[0] is asked


def test_with_nodes_copies_the_first() -> None:
    grown = Cluster("c", (box(),)).with_nodes(3)
    assert grown.num_devices == 12
    assert grown.name == "c"


def test_a_file_written_reads_back_equal(tmp_path: Path) -> None:
    cluster = Cluster("c", (box(), box(2, 1, "mesh", B)))
    cluster.save(tmp_path / "c.toml")
    assert Cluster.from_toml(tmp_path / "c.toml") == cluster
    assert Cluster.from_toml(str(tmp_path / "c.toml")) == cluster
    assert Cluster.from_toml(cluster.to_toml()) == cluster


def test_a_large_cluster_is_described_and_asked_quickly() -> None:
    cluster = Cluster("big", (box(8, 8),)).with_nodes(1000)
    routes = [cluster.route(rank, (rank + 1) % 8000) for rank in range(0, 8000, 100)]
    assert all(route.owned for route in routes)
