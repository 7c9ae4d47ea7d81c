"""When flows end, against closed forms; order that does not show; bytes that are conserved."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdist.sim.flow import FlowNet
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
        net.start(time, key, links, size, lambda began, end, index=index: found.__setitem__(index, end), **words)
    kernel.run(lambda task, error: None)
    assert not net.active
    return [found[index] for index in range(len(flows))]


# -- the published case: two flows and one link ---------------------------------------------------------------------------


def test_a_late_small_flow_takes_half_and_gives_it_back():
    assert ends([10 * G], [(0.0, (0,), 10 * G), (0.5, (0,), 2 * G)]) == pytest.approx([1.2, 0.9], rel=1e-9)


def test_a_third_flow_far_away_can_speed_up_the_first():
    capacities, links = [10 * G, 2 * G], [(0,), (0, 1), (1,)]
    sizes = [9 * G, 4 * G, 1 * G]
    found = ends(capacities, [(0.0, use, size) for use, size in zip(links, sizes, strict=True)])
    assert found == pytest.approx([1.0, 2.5, 1.0], rel=1e-9)


def test_opposite_directions_are_two_links():
    assert ends([10 * G, 10 * G], [(0.0, (0,), 10 * G), (0.5, (1,), 2 * G)]) == pytest.approx([1.0, 0.7], rel=1e-9)


# -- other closed forms ---------------------------------------------------------------------------------------------------


def test_a_flow_alone_takes_size_over_the_smallest_capacity_exactly():
    (end,) = ends([3.7e9, 1.3e9, 9e9], [(0.1, (0, 1, 2), 12345)])
    assert end == 0.1 + 12345 / 1.3e9


def test_many_equal_flows_end_together_and_are_computed_once():
    kernel = Kernel()
    net = FlowNet(kernel, [8.0])
    found = []
    for index in range(8):
        net.start(1.0, (index,), (0,), 3.0, lambda began, end: found.append(end))
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
        net.start(1.0, (1,), (0,), 0.5, lambda began, end: found.append(end))

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
        net.start(time, (index,), links, size, lambda began, end, index=index: finished.__setitem__((index,), end))
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


# -- bundles --------------------------------------------------------------------------------------------------------------


@st.composite
def rounds(draw):
    """Rounds of equal flows, as of collectives, and single flows that may come in between on the same links."""
    capacities = draw(CAPACITIES)
    uses = st.sets(st.integers(0, len(capacities) - 1), min_size=1).map(lambda s: tuple(sorted(s)))
    moment = st.integers(0, 8).map(lambda n: n / 4)
    flows = []
    for time, use, size, number in draw(
        st.lists(st.tuples(moment, uses, st.integers(1, 50), st.integers(4, 6)), min_size=1, max_size=3)
    ):
        flows += [(time, use, size)] * number
    return capacities, flows + draw(st.lists(st.tuples(moment, uses, st.integers(0, 50)), max_size=3))


@given(rounds())
@settings(max_examples=200, deadline=None)
def test_a_bundle_is_its_flows(history):
    """With bundles and without: the same ends, bit for bit."""
    with pytest.MonkeyPatch.context() as patch:
        bundled = ends(*history)
        patch.setattr("simdist.sim.flow._FEW", 10**9)
        assert ends(*history) == bundled


def test_a_bundle_is_undone_when_somebody_comes_to_its_links():
    kernel = Kernel()
    net = FlowNet(kernel, [8.0, 8.0])
    found = {}
    for index in range(4):
        net.start(0.0, (index,), (0,), 4.0, lambda began, end, index=index: found.__setitem__(index, end))
    net.start(1.0, (9,), (1,), 8.0, lambda began, end: found.__setitem__("elsewhere", end))
    net.start(1.0, (5,), (0, 1), 1.6, lambda began, end: found.__setitem__("here", end))
    kernel.env.step()
    assert [flow.rate for flow in net.active.values()] == [2.0] * 4
    assert len(net._bundles) == 1
    kernel.env.step()
    assert not net._bundles
    assert [net.active[key].rate for key in ((0,), (5,), (9,))] == [1.6, 1.6, 6.4]
    kernel.run(lambda task, error: None)
    assert found == pytest.approx({0: 2.2, 1: 2.2, 2: 2.2, 3: 2.2, "here": 2.0, "elsewhere": 2.2}, rel=1e-12)
