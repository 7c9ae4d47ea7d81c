"""Rates against closed forms, fairness as a property, and two ways with the same bits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdist.sim.fairness import Remembered, fair_rates
from simdist.sim.flow import Flow

G = 1e9
CAPACITIES = st.lists(st.floats(0.1, 100.0), min_size=1, max_size=8)


def rates(capacities, links, **options):
    return fair_rates([flow(i, use) for i, use in enumerate(links)], capacities, **options)


def flow(index, links, units=None, limit=float("inf")):
    return Flow((index,), links, units, 1.0, limit, 0.0, lambda _: None)


def test_a_third_flow_far_away_gives_the_first_more():
    assert rates([10 * G, 2 * G], [(0,), (0, 1), (1,)]) == [9 * G, 1 * G, 1 * G]


def test_a_share_that_is_not_used_goes_to_the_others():
    assert rates([10 * G, 2 * G], [(0,), (0, 1)]) == [8 * G, 2 * G]


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


def test_patterns_that_come_again_are_remembered() -> None:
    class Flow:
        units, limit = None, float("inf")

        def __init__(self, *links: int) -> None:
            self.links = links

    capacities = [10.0, 2.0]
    remembered = Remembered(capacities)
    flows = [Flow(0), Flow(0, 1)]
    assert remembered.rates(flows) == fair_rates(flows, capacities) == [8.0, 2.0]
    assert remembered.rates([Flow(0), Flow(0, 1)]) is remembered.rates(flows)
    limited = Flow(0)
    limited.limit = 1.0
    assert remembered.rates([limited, Flow(0, 1)]) == [1.0, 2.0]  # other rules, although the links are the same
    for number in range(1000):  # it does not grow for ever
        remembered.rates([Flow(0)] * (number % 300 + 1))
    assert len(remembered._known) <= 256
