from __future__ import annotations

import pytest

from simdist.cluster import Accelerator, Link, Node, fabric
from simdist.cluster.sharing import shared

DEVICE = Accelerator("chip", {"float32": 1e12}, 1e9, 1e9)
NODE = Node((DEVICE,) * 2, fabric=Link(1000.0, 1.0), num_nics=2, nic=Link(100.0, 4.0))
# two nodes under each of two leaves; a leaf's uplink carries half of what its four cards do
CLUSTER = fabric.leaf_spine(NODE, 2, 2, ratio=2.0, latency=4.0)


def test_a_message_alone_gets_its_route() -> None:
    for pair in ((0, 1), (0, 2), (0, 4)):
        route = CLUSTER.route(*pair)
        assert shared(CLUSTER, [pair]) == ([route.bandwidth], [route.latency])
    assert shared(CLUSTER, [(3, 3)]) == ([float("inf")], [0.0])
    assert shared(CLUSTER, []) == ([], [])


def test_messages_share_the_links_that_they_have_in_common() -> None:
    across = [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert shared(CLUSTER, across)[0] == pytest.approx([50.0] * 4)  # an uplink of 200 for four
    assert shared(CLUSTER, across[:2])[0] == pytest.approx([100.0] * 2)
    there_and_back = [(0, 4), (4, 0)]
    assert shared(CLUSTER, there_and_back)[0] == pytest.approx([100.0] * 2)  # full duplex
