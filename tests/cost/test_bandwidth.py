"""Are algorithm and bus bandwidth what nccl-tests prints?"""

from __future__ import annotations

import math

import pytest

from simdist.cost.bandwidth import BUS_FACTORS, SPELLINGS, algorithm_bandwidth, bandwidths, bus_bandwidth
from simdist.errors import UnknownNameError


def test_algorithm_bandwidth_is_size_over_time() -> None:
    assert algorithm_bandwidth(1e9, 0.01) == 100e9
    assert algorithm_bandwidth(1e9, 0.0) == math.inf


@pytest.mark.parametrize(
    ("collective", "bus"),
    [
        ("all_reduce", 175e9),
        ("all_gather", 87.5e9),
        ("reduce_scatter", 87.5e9),
        ("all_to_all", 87.5e9),
        ("broadcast", 100e9),
        ("reduce", 100e9),
        ("gather", 87.5e9),
        ("scatter", 87.5e9),
        ("all_reduce_in_network", 100e9 * 7 / 9),
    ],
)
def test_a_gigabyte_on_eight_ranks_in_ten_milliseconds(collective: str, bus: float) -> None:
    assert bus_bandwidth(collective, 8, 1e9, 0.01) == pytest.approx(bus, rel=1e-9)
    assert algorithm_bandwidth(1e9, 0.01) == pytest.approx(100e9, rel=1e-9)


def test_two_ranks_and_one() -> None:
    assert bus_bandwidth("all_reduce", 2, 1e9, 0.01) == algorithm_bandwidth(1e9, 0.01)
    assert bus_bandwidth("all_reduce", 1, 1e9, 0.01) == 0.0
    assert bus_bandwidth("all_reduce", 1, 1e9, 0.0) == 0.0


def test_the_factor_belongs_to_the_collective_only() -> None:
    assert all(math.isfinite(factor(p)) for factor in BUS_FACTORS.values() for p in (1, 2, 3, 8, 1024))
    assert all(0 < factor(1024) < 2 for factor in BUS_FACTORS.values())


def test_a_ring_on_an_ideal_network_shows_the_links_rate() -> None:
    from simdist.cost.collectives import seconds

    for collective in ("all_reduce", "all_gather", "reduce_scatter"):
        for p in (2, 3, 8):
            time = seconds(collective, "ring", p, 1e9, 0.0, 25e9)
            assert bus_bandwidth(collective, p, 1e9, time) == pytest.approx(25e9)


def test_a_collective_without_a_factor() -> None:
    with pytest.raises(UnknownNameError, match="there is no bus bandwidth factor named 'barrier'"):
        bus_bandwidth("barrier", 8, 1e9, 0.01)


def test_for_a_trace_both_as_far_as_they_are_defined() -> None:
    assert bandwidths("all_reduce", 8, 1e9, 0.01) == pytest.approx({"algbw": 100e9, "busbw": 175e9}, rel=1e-9)
    assert bandwidths("something_new", 8, 1e9, 0.01) == {"algbw": 100e9}
    assert bandwidths("barrier", 8, 0, 0.01) == {}
    assert bandwidths("all_reduce", 8, 1e9, 0.0) == {}


@pytest.mark.parametrize(("spelling", "collective"), SPELLINGS.items())
def test_torch_s_other_names_have_the_same_factor(spelling: str, collective: str) -> None:
    assert bandwidths(spelling, 8, 1e9, 0.01) == bandwidths(collective, 8, 1e9, 0.01)
