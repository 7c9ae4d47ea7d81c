"""Is a primitive's time the slower of arithmetic and memory?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.cluster import Accelerator, clusters
from simdist.cost import roofline

DEVICE = Accelerator(
    "d", {"float32": 100.0, "float16": 400.0}, 1.0, 10.0, launch_overhead=5.0, efficiency=((10, 0.25), (1000, 0.5))
)


def test_arithmetic_decides_when_there_is_much_of_it() -> None:
    assert roofline.seconds(DEVICE, 200.0, 10.0, "float32") == 2.0
    assert roofline.seconds(DEVICE, 200.0, 4.0, "float16") == 0.5
    assert roofline.is_compute_bound(DEVICE, 200.0, 10.0, "float32")


def test_memory_decides_otherwise() -> None:
    assert roofline.seconds(DEVICE, 200.0, 50.0, "float32") == 5.0
    assert not roofline.is_compute_bound(DEVICE, 200.0, 50.0, "float32")


def test_a_product_reaches_a_share_of_the_peak_that_depends_on_its_size() -> None:
    assert roofline.seconds(DEVICE, 200.0, 0.0, "float32", (10, 10, 10)) == pytest.approx(8.0)
    assert roofline.seconds(DEVICE, 200.0, 0.0, "float32", (1000, 1000, 1000)) == pytest.approx(4.0)
    assert roofline.seconds(DEVICE, 200.0, 0.0, "float32", (100, 100, 100)) == pytest.approx(200 / 37.5)


def test_the_launch_overhead_is_not_in_it() -> None:
    assert roofline.seconds(DEVICE, 0.0, 0.0, "float32") == 0.0


def test_a_numpy_dtype_selects_the_same_peak_as_its_name() -> None:
    for name in ("float16", "float32", "float64"):
        assert roofline.seconds(DEVICE, 1e4, 1.0, np.dtype(name)) == roofline.seconds(DEVICE, 1e4, 1.0, name)


def test_the_ridge_is_where_both_cost_the_same() -> None:
    ridge = roofline.ridge(DEVICE, "float32")
    assert ridge == 10.0
    assert roofline.seconds(DEVICE, ridge * 7.0, 7.0, "float32") == pytest.approx(7.0 / 10)


@given(st.floats(0, 1e18), st.floats(0, 1e12), st.sampled_from(["float16", "float32", "float64"]))
def test_more_work_never_takes_less_time(flops: float, nbytes: float, dtype: str) -> None:
    device = clusters.dgx_a100.device(0)
    time = roofline.seconds(device, flops, nbytes, dtype)
    assert time >= roofline.seconds(device, flops / 2, nbytes, dtype)
    assert time >= roofline.seconds(device, flops, nbytes / 2, dtype)
    assert time <= roofline.seconds(device, flops, nbytes, dtype, (64, 64, 64))


def test_an_a100_multiplies_large_half_precision_matrices_at_about_its_measured_rate() -> None:
    n = 16384
    seconds = roofline.seconds(clusters.dgx_a100.device(0), 2 * n**3, 6 * n * n, "bfloat16", (n, n, n))
    assert 0.9 * 271.2e12 < 2 * n**3 / seconds < 271.2e12
