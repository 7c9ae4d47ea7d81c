"""How fast is a device, per dtype and per size of a product?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.cluster import Accelerator
from simdist.cluster.accelerator import saturation
from simdist.errors import ClusterError


def device(**changes: object) -> Accelerator:
    arguments: dict[str, object] = {
        "name": "a",
        "peak_flops": {"float32": 100.0, "float16": 400.0},
        "memory": 1e9,
        "memory_bandwidth": 1e8,
    }
    return Accelerator(**(arguments | changes))  # type: ignore[arg-type]


def test_peaks_from_a_mapping_or_from_pairs_are_the_same_value() -> None:
    pairs = (("float32", 100.0), ("float16", 400.0))
    assert device() == device(peak_flops=pairs)
    assert hash(device()) == hash(device(peak_flops=pairs))
    assert device().peak_flops == (("float16", 400.0), ("float32", 100.0))


@pytest.mark.parametrize(
    ("dtype", "rate"),
    [
        ("float16", 400.0),
        (np.dtype("float16"), 400.0),
        (np.float16, 400.0),
        ("float32", 100.0),
        ("float64", 50.0),
        (np.dtype("float64"), 50.0),
        (np.dtype("int64"), 50.0),
        (np.dtype("uint8"), 100.0),
        ("bfloat16", 100.0),
    ],
)
def test_a_dtype_without_a_peak_takes_float32s_halved_if_wider_never_more(dtype: object, rate: float) -> None:
    mine = device()
    assert mine.peak(dtype) == rate
    assert mine.peak(dtype) == rate  # remembered


def test_asking_for_a_peak_does_not_change_the_value() -> None:
    asked, fresh = device(), device()
    asked.peak("float64")
    asked.matmul_efficiency(1, 2, 3)
    assert asked == fresh
    assert hash(asked) == hash(fresh)


def test_without_a_curve_the_peak_is_reached() -> None:
    assert device().matmul_efficiency(7, 8, 9) == 1.0


def test_the_curve_is_linear_in_the_logarithm_of_the_size_and_flat_outside() -> None:
    mine = device(efficiency=[(16, 0.2), (64, 0.6), (128, 0.5)])
    assert mine.matmul_efficiency(16, 16, 16) == pytest.approx(0.2)
    assert mine.matmul_efficiency(32, 32, 32) == pytest.approx(0.4)
    assert mine.matmul_efficiency(8, 32, 128) == pytest.approx(0.4)  # the same work as 32 x 32 x 32
    assert mine.matmul_efficiency(64, 64, 64) == pytest.approx(0.6)
    assert mine.matmul_efficiency(1, 1, 1) == 0.2
    assert mine.matmul_efficiency(10**4, 10**4, 10**4) == 0.5
    assert mine.matmul_efficiency(0, 5, 5) == 0.2


@given(st.tuples(*[st.integers(0, 10**6)] * 3))
def test_a_share_is_always_in_zero_to_one(size: tuple[int, int, int]) -> None:
    share = device(efficiency=saturation(0.9, 500)).matmul_efficiency(*size)
    assert 0 < share <= 0.9


def test_saturation_reaches_half_of_the_ceiling_at_the_half_size() -> None:
    mine = device(efficiency=saturation(0.8, 1024))
    assert mine.matmul_efficiency(1024, 1024, 1024) == pytest.approx(0.4)
    shares = [mine.matmul_efficiency(n, n, n) for n in (16, 100, 1000, 10_000)]
    assert shares == sorted(shares)


def test_the_cache_of_shares_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simdist.cluster.accelerator._CACHE_LIMIT", 10)
    mine = device(efficiency=saturation(0.8, 1024))
    for m in range(1, 50):
        mine.matmul_efficiency(m, 1, 1)
    assert len(mine._efficiencies) <= 10


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"memory": 0},
            "accelerator 'a': memory must be a finite number above 0, got 0. It is in bytes: 80 * units.GB.",
        ),
        (
            {"memory_bandwidth": -1},
            "accelerator 'a': memory_bandwidth must be a finite number above 0, got -1. It is in bytes",
        ),
        (
            {"launch_overhead": math.nan},
            "accelerator 'a': launch_overhead must be a finite number of 0 or more, got nan.",
        ),
        (
            {"peak_flops": {"float32": -5}},
            "accelerator 'a': peak_flops['float32'] must be a finite number above 0, got -5.",
        ),
        (
            {"peak_flops": {"float32": 1, "flaot16": 5}},
            "accelerator 'a': peak_flops: unknown key 'flaot16'. Did you mean 'float16'",
        ),
        ({"peak_flops": {"float16": 5}}, "accelerator 'a': peak_flops must have 'float32', got ['float16']."),
        ({"efficiency": [(16, 1.2)]}, "accelerator 'a': efficiency at size 16 must lie in (0, 1], got 1.2."),
        ({"efficiency": [(16, 0.1), (16, 0.2)]}, "accelerator 'a': efficiency sizes must ascend, got 16 after 16.0."),
        ({"efficiency": [16]}, "accelerator 'a': efficiency must be a list of [size, share], got 16 in it."),
        ({"efficiency": [(0, 0.5)]}, "accelerator 'a': efficiency size must be a finite number above 0, got 0."),
    ],
)
def test_a_number_that_cannot_be_is_refused(changes: dict[str, object], text: str) -> None:
    with pytest.raises(ClusterError) as error:
        device(**changes)
    assert str(error.value).startswith(text)


def test_sources_may_be_given_as_a_mapping() -> None:
    assert device(sources={"memory": "data sheet"}).sources == (("memory", "data sheet"),)
