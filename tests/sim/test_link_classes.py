"""One link stands for those that are alike, and no rate changes by it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdist.sim.flow import FlowNet
from simdist.sim.kernel import Kernel
from simdist.sim.link_classes import LinkClasses


def test_links_of_one_capacity_are_alike_until_a_use_tells_them_apart():
    classes = LinkClasses([1.0] * 6 + [2.0] * 2)
    assert len(classes) == 2
    everything = (tuple(range(8)), None)
    assert not classes.add(everything)
    assert classes.merged(everything) == ((0, 6), None)
    left = ((0, 1, 2), (1.0, 1.0, 3.0))
    assert classes.add(left)
    assert len(classes) == 4
    assert classes.merged(left) == ((0, 2), (1.0, 3.0))
    assert classes.merged(everything) == ((0, 2, 3, 6), None)
    assert not classes.add(left)


def test_the_last_link_of_a_class_keeps_it():
    classes = LinkClasses([1.0, 1.0])
    use = ((0, 1), (1.0, 2.0))
    assert classes.add(use)
    assert len(classes) == 2
    assert classes.merged(use) == use


@st.composite
def histories(draw):
    capacities = draw(st.lists(st.sampled_from([1.0, 2.0, 3.5]), min_size=1, max_size=10))
    uses = st.sets(st.integers(0, len(capacities) - 1), min_size=1).map(lambda s: tuple(sorted(s)))
    flows = []
    for _ in range(draw(st.integers(1, 8))):
        links = draw(uses)
        units = draw(st.none() | st.tuples(*[st.sampled_from([1.0, 0.5, 3.0])] * len(links)))
        flows.append((draw(st.integers(0, 8)) / 4, links, units, draw(st.integers(0, 20))))
    return capacities, flows


def ends(capacities, flows, merge):
    kernel = Kernel()
    net = FlowNet(kernel, capacities)
    if merge:
        net.classes = LinkClasses(capacities)
    found = {}
    for index, (time, links, units, size) in enumerate(flows):
        net.start(
            time, (index,), links, size, lambda began, end, index=index: found.__setitem__((index,), end), units=units
        )
    kernel.run(lambda task, error: None)
    return found


@given(histories())
@settings(max_examples=150, deadline=None)
def test_merged_links_give_the_same_ends_bit_for_bit(history):
    assert ends(*history, merge=True) == ends(*history, merge=False)


@pytest.mark.parametrize("merge", [False, True])
def test_a_class_that_splits_under_a_flow_still_holds_it_back(merge):
    """The first flow is counted on one of two links; then somebody uses the other one alone."""
    assert ends([1.0, 1.0], [(0.0, (0, 1), None, 2), (1.0, (1,), None, 1)], merge) == {(0,): 3.0, (1,): 3.0}
