from __future__ import annotations

import pytest

from simdist.cluster import Accelerator, Cluster, Link, Node
from simdist.comm import ALGORITHMS
from simdist.comm.estimate import estimate
from simdist.comm.layout import FLAT, Layout
from simdist.cost.closed_forms import Shape, seconds

DEVICE = Accelerator("chip", {"float32": 1e12}, 1e9, 1e9)


@pytest.mark.parametrize("name", [name for name, row in ALGORITHMS.items() if not row.by_node])
@pytest.mark.parametrize("pieces", [1, 6])
def test_on_equal_links_it_is_the_closed_form(name: str, pieces: int) -> None:
    size, latency, bandwidth = 11, 4e-6, 5e9
    cluster = Cluster("switch", (Node((DEVICE,) * size, fabric=Link(bandwidth, latency / 2)),))
    found = estimate(name, cluster, tuple(range(size)), FLAT).seconds(1e6, pieces)
    assert found == pytest.approx(seconds(name, Shape(size, pieces=pieces), 1e6, latency, bandwidth), rel=1e-12)


def test_between_nodes_a_flow_shares_the_card() -> None:
    """Two nodes of two devices with one card: in a ring one message crosses, in an exchange with distance two all do."""
    node = Node((DEVICE,) * 2, fabric=Link(1e12, 0.0), num_nics=1, nic=Link(1e9, 1e-6))
    cluster, group = Cluster("pair", (node, node)), (0, 1, 2, 3)
    slow = cluster.route(0, 2)
    ring = estimate("ring_all_reduce", cluster, group, FLAT).seconds(4e6)
    assert ring == pytest.approx(6 * (slow.latency + 1e6 / slow.bandwidth))
    doubling = estimate("recursive_doubling_all_reduce", cluster, group, FLAT).seconds(4e6)
    near = cluster.route(0, 1)
    assert doubling == pytest.approx(near.latency + 4e6 / near.bandwidth + slow.latency + 2 * 4e6 / slow.bandwidth)


def test_pieces_are_the_best_of_all() -> None:
    cluster = Cluster("switch", (Node((DEVICE,) * 9, fabric=Link(1e9, 1e-6)),))
    made = estimate("chain_broadcast", cluster, tuple(range(9)), FLAT)
    assert made.is_pipelined
    best = made.best_pieces(1e6, 100)
    assert made.seconds(1e6, best) == min(made.seconds(1e6, pieces) for pieces in range(1, 101))
    assert best == round((7 * 1e6 / 1e9 / 2e-6) ** 0.5)
    ring = estimate("ring_all_reduce", cluster, tuple(range(9)), FLAT)
    assert not ring.is_pipelined and ring.best_pieces(1e6, 100) == 1


def test_alone_there_is_nothing_to_wait_for() -> None:
    cluster = Cluster("one", (Node((DEVICE,)),))
    assert all(estimate(name, cluster, (0,), Layout(((0,),))).seconds(1e9) == 0 for name in ALGORITHMS)
