"""Do cables run where one can follow them?"""

from __future__ import annotations

import simdist as sd
from simdist.cluster import Cluster, Edge, fabric
from simdist.plot.cables import Line, arrow, lines_of, path
from simdist.plot.places import chart

PC = sd.clusters.get("pc-10gbe").nodes[0]
CABLE = sd.Link(10e9, 1e-6)


def test_a_line_for_each_direction_and_one_for_half_duplex() -> None:
    both = sd.Link(1e9, 1e-6, "half")
    cluster = Cluster("two", (PC, PC), (Edge("node0/nic0", "hub", both), Edge("node1/nic0", "hub", CABLE)))
    lines = lines_of(cluster, chart(cluster))
    assert [(line.start, line.end, line.both) for line in lines] == [
        ("node0/device0", "hub", True),
        ("node1/device0", "hub", False),
        ("hub", "node1/device0", False),
    ]
    assert [line.links for line in lines] == [(0,), (1,), (2,)]


def test_of_nodes_drawn_whole_the_cables_inside_vanish_and_parallel_ones_are_one() -> None:
    cluster = sd.clusters.get("dgx-a100", num_devices=16)
    lines = lines_of(cluster, chart(cluster, whole_nodes=True))
    assert {(line.start, line.end) for line in lines} == {
        ("node0", "switch"), ("switch", "node0"), ("node1", "switch"), ("switch", "node1")
    }  # fmt: skip
    assert all(len(line.links) == 8 for line in lines)
    assert all(cluster.links[link].name.startswith("node0/device") for link in lines[0].links)


def test_traffic_keeps_to_the_right() -> None:
    cluster = sd.clusters.get("pc-10gbe", num_devices=2)
    place = chart(cluster)
    up = path(place, Line("node0/device0", "switch", (0,), False))
    down = path(place, Line("switch", "node0/device0", (1,), False))
    device, switch = place.vertices["node0/device0"], place.vertices["switch"]

    def side(points: list[tuple[float, float]]) -> float:
        """Positive if the line is at the right of the way from the device to the switch."""
        x, y = points[0][0] - device.x, points[0][1] - device.y
        return x * (switch.y - device.y) - y * (switch.x - device.x)

    assert side(up) > 0
    assert down[0][0] < switch.x or down[0][1] > switch.y
    assert len(up) == len(down) == 2


def test_what_would_pass_over_others_is_bent_to_one_side() -> None:
    cluster = fabric.torus(PC, (5,), CABLE)
    place = chart(cluster)
    there = path(place, Line("router0", "router4", (0,), False))
    back = path(place, Line("router4", "router0", (1,), False))
    assert len(there) == len(back) == 17
    level = place.vertices["router0"].y
    assert min(there[8][1], back[8][1]) > level + 0.4
    assert len(path(place, Line("router0", "router1", (0,), False))) == 2


def test_an_arrow_points_along_its_line() -> None:
    tip, left, right = arrow([(0.0, 0.0), (10.0, 0.0)])
    assert tip[0] > left[0] == right[0] and tip[1] == 0.0 and left[1] == -right[1]
