"""Which way does a message go, who owns each link, and is it always the same answer?"""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.cluster import Edge, Link, Topology
from simdist.errors import ClusterError

FAST, SLOW = Link(100.0, 1.0), Link(10.0, 5.0)


def path(topology: Topology, src: int, dst: int) -> list[str]:
    return [topology.links[index].name for index in topology.route(src, dst).links]


def star(count: int, link: Link = FAST) -> Topology:
    names = [f"d{i}" for i in range(count)]
    return Topology(names, [Edge(name, "hub", link) for name in names])


def test_a_route_sums_latencies_and_takes_the_smallest_bandwidth() -> None:
    topology = Topology(["a", "b"], [Edge("a", "s", FAST), Edge("s", "t", SLOW), Edge("t", "b", FAST)])
    route = topology.route(0, 1)
    assert path(topology, 0, 1) == ["a > s", "s > t", "t > b"]
    assert route.latency == 7.0
    assert route.bandwidth == 10.0


def test_to_oneself_there_is_no_link() -> None:
    route = star(2).route(1, 1)
    assert route == ((), 0.0, math.inf, True)


def test_full_duplex_has_two_links_half_duplex_one_for_both_directions() -> None:
    full, half = star(2), star(2, Link(100.0, 1.0, "half"))
    assert len(full.links) == 4
    assert len(half.links) == 2
    assert not set(full.route(0, 1).links) & set(full.route(1, 0).links)
    assert sorted(half.route(0, 1).links) == sorted(half.route(1, 0).links)
    assert half.links[0].name == "d0 - hub"


def test_each_port_of_a_star_belongs_to_its_device() -> None:
    topology = star(3)
    assert {link.name: link.owner for link in topology.links} == {
        "d0 > hub": 0, "hub > d0": 0, "d1 > hub": 1, "hub > d1": 1, "d2 > hub": 2, "hub > d2": 2,
    }  # fmt: skip
    assert all(topology.route(a, b).owned for a, b in permutations(range(3), 2))
    assert [link.owner for link in star(2, Link(1.0, 0.0, "half")).links] == [0, 1]


def test_a_cable_between_two_devices_belongs_to_the_sender() -> None:
    topology = Topology(["a", "b"], [Edge("a", "b", FAST)])
    assert [(link.name, link.owner) for link in topology.links] == [("a > b", 0), ("b > a", 1)]
    assert topology.route(1, 0).owned


def test_a_link_behind_a_vertex_that_two_devices_share_has_no_owner() -> None:
    topology = Topology(
        ["a", "b", "c", "d"],
        [Edge(name, "card", FAST) for name in "ab"]
        + [Edge("card", "hub", SLOW)]
        + [Edge(name, "hub", FAST) for name in "cd"],
    )
    owners = {link.name: link.owner for link in topology.links}
    assert owners["card > hub"] is None
    assert owners["hub > card"] is None
    assert owners["a > card"] == 0
    assert topology.route(0, 1).owned
    assert not topology.route(0, 2).owned


def test_a_chain_that_hangs_from_one_device_is_all_its_own() -> None:
    edges = [Edge("a", "card", FAST), Edge("card", "port", FAST), Edge("port", "hub", FAST)]
    edges += [Edge("b", "hub", FAST), Edge("c", "hub", FAST)]
    topology = Topology(["a", "b", "c"], edges)
    assert {link.owner for link in topology.links if "card" in link.name or "port" in link.name} == {0}
    assert topology.route(0, 2).owned


def test_a_chain_between_two_devices_is_owned_by_its_ends() -> None:
    topology = Topology(["a", "b"], [Edge("a", "s", FAST), Edge("s", "b", FAST)])
    assert topology.route(0, 1).owned
    assert topology.route(1, 0).owned


def test_fewest_links_first_then_latency_then_the_vertex_named_first() -> None:
    edges = [
        Edge("a", "slow", SLOW), Edge("slow", "b", SLOW),
        Edge("a", "fast", FAST), Edge("fast", "b", FAST),
        Edge("a", "also", FAST), Edge("also", "b", FAST),
        Edge("a", "x", Link(1e9)), Edge("x", "y", Link(1e9)), Edge("y", "b", Link(1e9)),
    ]  # fmt: skip
    assert path(Topology(["a", "b"], edges), 0, 1) == ["a > fast", "fast > b"]
    assert path(Topology(["a", "b"], [*edges, Edge("a", "b", SLOW)]), 0, 1) == ["a > b"]


def test_devices_do_not_forward() -> None:
    topology = Topology(["a", "b", "c"], [Edge("a", "b", FAST), Edge("b", "c", FAST)])
    with pytest.raises(ClusterError) as error:
        topology.route(0, 2)
    assert str(error.value) == (
        "no route from a to c. Devices do not forward: join them by an edge, or both to vertices that are joined "
        "(switches, network cards)."
    )


@pytest.mark.parametrize("pair", [(0, 2), (-1, 0), (5, 5)])
def test_a_device_that_is_not_there(pair: tuple[int, int]) -> None:
    with pytest.raises(
        ClusterError, match=rf"no route from device {pair[0]} to device {pair[1]}: devices are 0\.\.1\."
    ):
        star(2).route(*pair)


def test_an_edge_to_itself_or_twice_is_refused() -> None:
    with pytest.raises(ClusterError, match="an edge joins 'a' to itself"):
        Topology(["a"], [Edge("a", "a", FAST)])
    with pytest.raises(ClusterError, match=r"two edges join 'b' and 'a'\. Give one, with the bandwidth of both\."):
        Topology(["a", "b"], [Edge("a", "b", FAST), Edge("b", "a", FAST)])


def test_a_route_is_found_once() -> None:
    topology = star(4)
    assert topology.route(0, 3) is topology.route(0, 3)


def test_a_torus_of_routers_takes_the_short_way_round() -> None:
    devices = [f"d{i}" for i in range(6)]
    edges = [Edge(f"d{i}", f"r{i}", FAST) for i in range(6)] + [
        Edge(f"r{i}", f"r{(i + 1) % 6}", SLOW) for i in range(6)
    ]
    topology = Topology(devices, edges)
    assert path(topology, 0, 5) == ["d0 > r0", "r0 > r5", "r5 > d5"]
    assert len(topology.route(0, 3).links) == 5
    assert not topology.route(0, 1).owned


@st.composite
def graphs(draw: st.DrawFn) -> Topology:
    """Up to five devices on up to five switches, randomly wired."""
    devices = [f"d{i}" for i in range(draw(st.integers(2, 5)))]
    vertices = devices + [f"s{i}" for i in range(draw(st.integers(1, 5)))]
    pairs = [(a, b) for index, a in enumerate(vertices) for b in vertices[index + 1 :]]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    links = st.builds(Link, st.integers(1, 9), st.integers(0, 9), st.sampled_from(["full", "half"]))
    return Topology(devices, [Edge(a, b, draw(links)) for a, b in chosen])


@given(graphs())
def test_a_route_is_a_walk_whose_owned_links_nobody_else_uses(topology: Topology) -> None:
    users: dict[int, set[frozenset[int]]] = {}
    for src, dst in permutations(range(len(topology.devices)), 2):
        try:
            route = topology.route(src, dst)
        except ClusterError:
            continue
        links = [topology.links[index] for index in route.links]
        assert len(set(route.links)) == len(route.links)
        assert route.latency == sum(link.latency for link in links)
        assert route.bandwidth == min(link.bandwidth for link in links)
        for index in route.links:
            users.setdefault(index, set()).add(frozenset((src, dst)))
    for index, pairs in users.items():
        owner = topology.links[index].owner
        assert owner is None or all(owner in pair for pair in pairs)


@given(graphs())
def test_the_same_description_gives_the_same_routes(topology: Topology) -> None:
    again = Topology(topology.devices, topology.edges)
    pairs = list(permutations(range(len(topology.devices)), 2))
    for src, dst in reversed(pairs):
        try:
            route = topology.route(src, dst)
        except ClusterError:
            continue
        assert again.route(src, dst) == route
