"""Are the measured times what the source says?"""

from __future__ import annotations

import numpy as np
import pytest

from simdist.cost.bandwidth import bus_bandwidth
from simdist.units import MiB
from simdist.validate.curve import Curve, curves


def test_six_tables_of_1024_sizes() -> None:
    assert [curve.name for curve in curves()] == [
        "a100 x 2",
        "a100 x 4",
        "a100 x 8",
        "v100 x 2",
        "v100 x 4",
        "v100 x 8",
    ]
    for curve in curves():
        assert curve.nbytes.tolist() == [number * MiB for number in range(1, 1025)]
        assert (curve.seconds > 1e-5).all() and (curve.seconds < 0.1).all()


def test_the_first_row_is_the_source_s() -> None:
    first = curves()[0]
    assert (first.nbytes[0], first.seconds[0], first.busbw[0]) == pytest.approx((1048576, 44.21e-6, 23.72e9))


def test_halves_share_nothing_and_lose_nothing() -> None:
    curve = Curve("x", 2, np.arange(5.0), np.arange(5.0) + 10, np.arange(5.0) + 20)
    even, odd = curve.half(odd=False), curve.half(odd=True)
    assert (even.nbytes.tolist(), odd.nbytes.tolist()) == ([0, 2, 4], [1, 3])
    assert (even.seconds.tolist(), odd.busbw.tolist()) == ([10, 12, 14], [21, 23])


def test_our_bus_bandwidth_is_the_one_that_nccl_tests_printed() -> None:
    for curve in curves():
        for nbytes, seconds, printed in zip(curve.nbytes, curve.seconds, curve.busbw, strict=True):
            assert bus_bandwidth("all_reduce", curve.world_size, nbytes, seconds) == pytest.approx(printed, rel=5e-4)
