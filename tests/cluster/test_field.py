"""What may a field hold, and what does the refusal say?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from simdist.cluster import field
from simdist.errors import ClusterError


@pytest.mark.parametrize("value", [1, 0.5, 1e300, np.float64(2), np.int32(3)])
def test_positive_gives_a_plain_float(value: object) -> None:
    number = field.positive("link 'a'", "bandwidth", value)
    assert type(number) is float
    assert number == value


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "fast", None, True, [1]])
def test_positive_refuses_with_thing_key_and_value(value: object) -> None:
    with pytest.raises(ClusterError) as error:
        field.positive("link 'a'", "bandwidth", value, "It is in bytes per second.")
    text = f"link 'a': bandwidth must be a finite number above 0, got {value!r}. It is in bytes per second."
    assert str(error.value) == text


@pytest.mark.parametrize("value", [0, 0.0, 1e-9])
def test_not_negative_takes_zero(value: float) -> None:
    assert field.not_negative("link 'a'", "latency", value) == value


@pytest.mark.parametrize("value", [-1e-9, math.nan, math.inf, "0", False])
def test_not_negative_refuses(value: object) -> None:
    with pytest.raises(ClusterError) as error:
        field.not_negative("link 'a'", "latency", value)
    assert str(error.value) == f"link 'a': latency must be a finite number of 0 or more, got {value!r}."


def test_fraction_lies_above_zero_and_at_most_one() -> None:
    assert field.fraction("x", "share", 1) == 1.0
    with pytest.raises(ClusterError, match=r"x: share must lie in \(0, 1\], got 1\.5\. It is a share of the peak\."):
        field.fraction("x", "share", 1.5)
    with pytest.raises(ClusterError, match="x: share must be a finite number above 0, got 0"):
        field.fraction("x", "share", 0)


def test_count_takes_integers_only() -> None:
    assert field.count("node 'n'", "num_nics", np.int64(4)) == 4
    for value in (1.0, -1, "2", True, None):
        with pytest.raises(ClusterError) as error:
            field.count("node 'n'", "num_nics", value)
        assert str(error.value) == f"node 'n': num_nics must be an integer of at least 0, got {value!r}."
    with pytest.raises(ClusterError, match="at least 1, got 0"):
        field.count("node 'n'", "count", 0, 1)


def test_choice_names_the_nearest_word() -> None:
    assert field.choice("link 'a'", "duplex", "half", ("full", "half")) == "half"
    with pytest.raises(ClusterError) as error:
        field.choice("link 'a'", "duplex", "ful", ("full", "half"))
    assert str(error.value) == "link 'a': duplex must be one of 'full', 'half', got 'ful'. Did you mean 'full'?"


def test_known_keys_names_the_misspelt_and_the_nearest() -> None:
    field.known_keys("link 'a'", ["latency"], ["bandwidth", "latency"])
    with pytest.raises(ClusterError) as error:
        field.known_keys("link 'a'", ["bandwith"], ["bandwidth", "latency"])
    assert str(error.value) == (
        "link 'a': unknown key 'bandwith'. Did you mean 'bandwidth'? Known keys: bandwidth, latency."
    )
