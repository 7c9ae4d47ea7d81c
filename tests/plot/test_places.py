"""Do vertices stand where one can tell them apart?"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import hypot

import pytest

import simdist as sd
from simdist.cluster import Cluster, Edge, fabric
from simdist.plot.places import KINDS, Chart, chart

PC = sd.clusters.get("pc-10gbe").nodes[0]
DGX = sd.clusters.get("dgx-a100").nodes[0]
SHARED = replace(DGX, accelerators=DGX.accelerators[:4], num_nics=2)
CABLE = sd.Link(10e9, 1e-6)

CLUSTERS: dict[str, Cluster] = {
    **{name: sd.clusters.get(name) for name in sd.clusters.names()},
    "two DGX-1": sd.clusters.get("dgx1-v100", num_devices=16),
    "two DGX": sd.clusters.get("dgx-a100", num_devices=16),
    "leaf-spine": fabric.leaf_spine(SHARED, 2, 2, ratio=4),
    "fat tree": fabric.fat_tree(PC, 4),
    "rails": fabric.rails(SHARED, 4),
    "torus": fabric.torus(PC, (3, 4), CABLE),
    "one device": Cluster("one", (PC,)),
    "odd names": Cluster(
        "odd",
        (PC, PC),
        (Edge("node0/nic0", "rack/a", CABLE), Edge("node1/nic0", "b", CABLE), Edge("rack/a", "b", CABLE)),
    ),
    "ring": fabric.torus(PC, (5,), CABLE),
}


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("whole_nodes", [False, True])
def test_every_vertex_has_a_place_of_its_own(name: str, whole_nodes: bool) -> None:
    cluster = CLUSTERS[name]
    place = chart(cluster, whole_nodes)
    for a, b in combinations(place.vertices.values(), 2):
        assert hypot(a.x - b.x, a.y - b.y) > 0.6, (a, b)
    for edge in cluster.topology.edges:
        for vertex in edge[:2]:
            assert place.vertex(vertex).name in (vertex, vertex.partition("/")[0])
    assert {vertex.kind for vertex in place.vertices.values()} <= set(KINDS)
    assert sum(v.kind == "device" for v in place.vertices.values()) == (0 if whole_nodes else cluster.num_devices)


@pytest.mark.parametrize("name", CLUSTERS)
def test_frames_hold_their_vertices_and_do_not_meet(name: str) -> None:
    place = chart(CLUSTERS[name])
    for box in place.boxes:
        for vertex in place.vertices.values():
            inside = box.left < vertex.x < box.right and box.bottom < vertex.y < box.top
            assert inside == vertex.name.startswith(box.label + "/")
    for a, b in combinations(place.boxes, 2):
        assert a.right < b.left or b.right < a.left or a.top < b.bottom or b.top < a.bottom


def heights(place: Chart, start: str) -> set[float]:
    return {vertex.y for name, vertex in place.vertices.items() if name.rpartition("-")[2].startswith(start)}


def test_switches_stand_in_tiers() -> None:
    place = chart(CLUSTERS["fat tree"])
    tiers = [heights(place, start) for start in ("node", "edge", "up", "core")]
    assert all(len(tier) == 1 for tier in tiers)
    assert [max(tier) for tier in tiers] == sorted(max(tier) for tier in tiers)


def test_devices_of_a_mesh_stand_in_a_circle_round_the_host() -> None:
    place = chart(sd.clusters.get("dgx1-v100"))
    centre = place.vertices["node0/host"]
    radii = [hypot(v.x - centre.x, v.y - centre.y) for v in place.vertices.values() if v.kind == "device"]
    assert radii == pytest.approx([radii[0]] * 8)


def test_a_torus_of_routers_is_a_grid() -> None:
    place = chart(CLUSTERS["torus"])
    routers = [v for v in place.vertices.values() if v.kind == "switch"]
    assert len({round(v.x, 9) for v in routers}) == 4 and len({round(v.y, 9) for v in routers}) == 3
    ring = [v for v in chart(CLUSTERS["ring"]).vertices.values() if v.kind == "switch"]
    assert len({round(v.y, 9) for v in ring}) == 1


def test_labels_are_the_numbers_of_ranks() -> None:
    place = chart(CLUSTERS["two DGX"])
    assert place.vertices["node1/device3"].label == "11"
    assert chart(CLUSTERS["two DGX"], whole_nodes=True).vertices["node1"].label == "1"
