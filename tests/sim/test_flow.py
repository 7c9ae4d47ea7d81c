"""Rates against closed forms, fairness as a property, and bytes that are conserved."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdist.sim.flow import Flow, FlowNet, fair_rates
from simdist.sim.kernel import Kernel

G = 1e9


def ends(capacities, flows, **options):
    """When each flow ends: ``flows`` are (time, links, bytes) with what else ``start`` takes."""
    kernel = Kernel()
    net = FlowNet(kernel, capacities, **options)
    found = {}
    for index, (time, links, size, *more) in enumerate(flows):
        words = {"key": (index,), **(more[0] if more else {})}
        key = words.pop("key")
        net.start(time, key, links, size, lambda flow, index=index: found.__setitem__(index, flow.end), **words)
    kernel.run(lambda task, error: None)
    assert not net.active
    return [found[index] for index in range(len(flows))]


def rates(capacities, links, **options):
    return fair_rates([flow(i, use) for i, use in enumerate(links)], capacities, **options)


def flow(index, links, units=None, limit=float("inf")):
    return Flow((index,), links, units, 1.0, limit, 0.0, lambda _: None)


# -- the published case: two flows and one link ---------------------------------------------------------------------------


def test_a_late_small_flow_takes_half_and_gives_it_back():
    assert ends([10 * G], [(0.0, (0,), 10 * G), (0.5, (0,), 2 * G)]) == pytest.approx([1.2, 0.9], rel=1e-9)


def test_a_share_that_is_not_used_goes_to_the_others():
    assert rates([10 * G, 2 * G], [(0,), (0, 1)]) == [8 * G, 2 * G]


def test_a_third_flow_far_away_can_speed_up_the_first():
    capacities, links = [10 * G, 2 * G], [(0,), (0, 1), (1,)]
    assert rates(capacities, links) == [9 * G, 1 * G, 1 * G]
    sizes = [9 * G, 4 * G, 1 * G]
    found = ends(capacities, [(0.0, use, size) for use, size in zip(links, sizes, strict=True)])
    assert found == pytest.approx([1.0, 2.5, 1.0], rel=1e-9)


def test_opposite_directions_are_two_links():
    assert ends([10 * G, 10 * G], [(0.0, (0,), 10 * G), (0.5, (1,), 2 * G)]) == pytest.approx([1.0, 0.7], rel=1e-9)


# -- other closed forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hops", [1, 2, 7, 60])
@pytest.mark.parametrize("many", [1, 1000])
def test_the_parking_lot(hops, many):
    """One flow over all links, one on each: all have half, however long the way is."""
    links = [tuple(range(hops)), *((i,) for i in range(hops))]
    assert rates([1.0] * hops, links, many=many) == [0.5] * (hops + 1)


@pytest.mark.parametrize("many", [1, 1000])
def test_unequal_links_fill_one_after_the_other(many):
    """Link i has capacity i + 1 and its own flow; the long one is held by the first, the rest is for the others."""
    links = [(0, 1, 2, 3), (0,), (1,), (2,), (3,)]
    assert rates([1.0, 2.0, 3.0, 4.0], links, many=many) == [0.5, 0.5, 1.5, 2.5, 3.5]


def test_units_count_as_so_many_flows():
    """A bundle of three and a single one on a link of 8: each flow has 2, so the bundle carries 6."""
    assert fair_rates([flow(0, (0,), (3.0,)), flow(1, (0,))], [8.0]) == [2.0, 2.0]


def test_a_limit_leaves_the_rest_to_others():
    found = fair_rates([flow(0, (0,), limit=1.0), flow(1, (0,)), flow(2, (0,))], [10.0])
    assert found == [1.0, 4.5, 4.5]


def test_a_flow_alone_takes_size_over_the_smallest_capacity_exactly():
    (end,) = ends([3.7e9, 1.3e9, 9e9], [(0.1, (0, 1, 2), 12345)])
    assert end == 0.1 + 12345 / 1.3e9


def test_many_equal_flows_end_together_and_are_computed_once():
    kernel = Kernel()
    net = FlowNet(kernel, [8.0])
    found = []
    for index in range(8):
        net.start(1.0, (index,), (0,), 3.0, lambda flow: found.append(flow.end))
    kernel.run(lambda task, error: None)
    assert found == [4.0] * 8
    assert net.recomputed == 1


def test_a_flow_of_nothing_takes_no_time():
    assert ends([1.0], [(2.0, (0,), 0), (0.0, (0,), 5.0)]) == [2.0, 5.0]


def test_without_links_only_the_limit_counts():
    assert ends([], [(2.0, (), 10.0, {"limit": 5.0}), (1.0, (), 10.0)]) == [4.0, 1.0]


def test_one_connection_is_served_in_order_of_time():
    """Two messages of one key: the second begins when the first has ended; a flow of another key shares."""
    same = {"key": (7, 7)}
    assert ends([2.0], [(0.5, (0,), 2.0, same), (0.0, (0,), 2.0, same)]) == [2.0, 1.0]
    assert ends([2.0], [(0.0, (0,), 2.0, same), (0.0, (0,), 2.0, same), (0.0, (0,), 4.0)]) == [2.0, 4.0, 4.0]


def test_an_empty_message_waits_for_its_turn():
    same = {"key": (7, 7)}
    assert ends([2.0], [(0.0, (0,), 2.0, same), (0.5, (0,), 0, same), (0.6, (0,), 2.0, same)]) == [1.0, 1.0, 2.0]


def test_departures_come_before_arrivals_of_the_same_instant():
    """The second begins at the very end of the first: they never share."""
    assert ends([2.0], [(0.0, (0,), 2.0), (1.0, (0,), 2.0)]) == [1.0, 2.0]


def test_a_flow_can_be_started_in_the_past_on_links_that_nobody_uses():
    kernel = Kernel()
    net = FlowNet(kernel, [1.0, 1.0])
    found = []

    def late():
        net.start(1.0, (1,), (0,), 0.5, lambda flow: found.append(flow.end))

    kernel.at(5.0, late)
    kernel.run(lambda task, error: None)
    assert found == [1.5]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_posting_does_not_show(order):
    flows = [(0.0, (0, 1), 1.0), (0.0, (1, 2), 1.1), (0.3, (0, 2), 0.7)]
    expected = ends([0.3, 0.7, 1.1], flows)
    shuffled = [(*flows[i], {"key": (i,)}) for i in order]
    found = ends([0.3, 0.7, 1.1], shuffled)
    assert [found[order.index(i)] for i in range(3)] == expected


# -- properties ------------------------------------------------------------------------------------------------------------

CAPACITIES = st.lists(st.floats(0.1, 100.0), min_size=1, max_size=8)


@st.composite
def networks(draw, most=12):
    capacities = draw(CAPACITIES)
    number = draw(st.integers(1, most))
    uses = st.sets(st.integers(0, len(capacities) - 1), min_size=1).map(lambda s: tuple(sorted(s)))
    flows = []
    for index in range(number):
        links = draw(uses)
        units = draw(st.none() | st.tuples(*[st.floats(0.25, 4.0)] * len(links)))
        flows.append(flow(index, links, units, draw(st.just(float("inf")) | st.floats(0.01, 10.0))))
    return capacities, flows


def load(flows, found, link):
    return sum(
        rate * (f.units[f.links.index(link)] if f.units else 1.0)
        for f, rate in zip(flows, found, strict=True)
        if link in f.links
    )


@given(networks())
@settings(max_examples=150, deadline=None)
def test_rates_are_feasible_and_max_min_fair(network):
    """No link is over-full; and every flow is at its limit, or has a full link on which nobody is faster."""
    capacities, flows = network
    found = fair_rates(flows, capacities)
    assert all(rate > 0 for rate in found)
    loads = [load(flows, found, link) for link in range(len(capacities))]
    assert all(amount <= capacity * (1 + 1e-9) for amount, capacity in zip(loads, capacities, strict=True))
    for f, rate in zip(flows, found, strict=True):
        if rate == f.limit:
            continue
        assert any(
            loads[link] >= capacities[link] * (1 - 1e-9)
            and all(other <= rate * (1 + 1e-9) for g, other in zip(flows, found, strict=True) if link in g.links)
            for link in f.links
        )


@given(networks(most=80))
@settings(max_examples=100, deadline=None)
def test_loops_and_numpy_give_the_same_bits(network):
    capacities, flows = network
    assert fair_rates(flows, capacities, many=1) == fair_rates(flows, capacities, many=10**9)


@st.composite
def histories(draw):
    capacities = draw(CAPACITIES)
    uses = st.sets(st.integers(0, len(capacities) - 1), min_size=1).map(lambda s: tuple(sorted(s)))
    moment = st.integers(0, 8).map(lambda n: n / 4)
    return capacities, draw(st.lists(st.tuples(moment, uses, st.integers(0, 50)), min_size=1, max_size=12))


@given(histories())
@settings(max_examples=100, deadline=None)
def test_what_is_carried_is_what_was_sent(history):
    """The rates, looked at after every change and integrated, give each flow's size; no link ever carries too much."""
    capacities, flows = history
    kernel = Kernel()
    net = FlowNet(kernel, capacities)
    carried, finished, before = {}, {}, [0.0]

    def look():
        now = kernel.env.now
        for key, rate in current.items():
            carried[key] = carried.get(key, 0.0) + rate * (now - before[0])
        before[0] = now
        current.clear()
        current.update({key: f.rate for key, f in net.active.items()})
        for link, capacity in enumerate(capacities):
            assert sum(f.rate for f in net.active.values() if link in f.links) <= capacity * (1 + 1e-9)

    current = {}
    for index, (time, links, size) in enumerate(flows):
        net.start(time, (index,), links, size, lambda f: finished.__setitem__(f.key, f.end))
    while kernel.env._queue:
        kernel.env.step()
        look()
    assert sorted(finished) == [(index,) for index in range(len(flows))]
    for index, (time, links, size) in enumerate(flows):
        assert carried.get((index,), 0.0) == pytest.approx(size, rel=1e-9, abs=1e-9)
        assert finished[(index,)] >= time + size / min(capacities[link] for link in links) * (1 - 1e-12)


@given(histories())
@settings(max_examples=50, deadline=None)
def test_a_history_has_the_same_ends_with_loops_and_with_numpy(history):
    capacities, flows = history
    assert ends(capacities, flows, many=2) == ends(capacities, flows, many=10**9)
