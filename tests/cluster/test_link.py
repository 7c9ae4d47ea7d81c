"""Is a cable a value with sane numbers?"""

from __future__ import annotations

import dataclasses

import pytest

from simdist.cluster import Link
from simdist.errors import ClusterError
from simdist.units import GB, us


def test_a_link_is_a_frozen_value() -> None:
    link = Link(300 * GB, 2 * us, name="NVLink")
    assert link == Link(3e11, 2e-6, "full", "NVLink")
    assert hash(link) == hash(Link(3e11, 2e-6, "full", "NVLink"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        link.bandwidth = 1.0  # type: ignore[misc]


def test_numbers_are_kept_as_floats() -> None:
    link = Link(10, 0)
    assert type(link.bandwidth) is float
    assert type(link.latency) is float


def test_cables_side_by_side_add_their_bandwidth_and_keep_their_latency() -> None:
    assert Link(25 * GB, 1 * us, name="NVLink2").times(2) == Link(50 * GB, 1 * us, name="NVLink2")


@pytest.mark.parametrize("bandwidth", [-1.0, 0, float("nan"), float("inf"), "fast"])
def test_a_bandwidth_that_cannot_be_names_key_and_value(bandwidth: object) -> None:
    with pytest.raises(ClusterError) as error:
        Link(bandwidth, name="x")  # type: ignore[arg-type]
    assert str(error.value) == (
        f"link 'x': bandwidth must be a finite number above 0, got {bandwidth!r}. It is bytes per second in one direction: "
        "300 * units.GB, units.gbit(400)."
    )


def test_a_negative_latency_is_refused() -> None:
    with pytest.raises(ClusterError, match=r"link 'x': latency must be .* 0 or more, got -1e-06\. It is in seconds"):
        Link(1e9, -1e-6, name="x")


def test_duplex_is_full_or_half() -> None:
    assert Link(1.0, duplex="half").duplex == "half"
    with pytest.raises(ClusterError) as error:
        Link(1.0, duplex="hafl", name="x")
    text = "link 'x': duplex must be one of 'full', 'half', got 'hafl'. Did you mean 'half'"
    assert str(error.value).startswith(text)
