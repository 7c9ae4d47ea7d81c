"""Do the laws of scaling and their fits give numbers that can be worked out by hand?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.cost.speedup import (
    AmdahlFit,
    ScalingError,
    amdahl,
    fit_amdahl,
    fit_gustafson,
    gustafson,
    karp_flatt,
    speedups,
    strong_efficiency,
    weak_efficiency,
)

NUMBERS = [1, 2, 4, 8, 16]


def times(serial: float, single: float = 3.0, numbers: list[int] = NUMBERS) -> list[float]:
    return [single * (serial + (1 - serial) / number) for number in numbers]


def test_amdahl_by_hand() -> None:
    assert amdahl(10, 0.1) == pytest.approx(1 / 0.19)
    assert amdahl(1, 0.3) == 1
    assert amdahl(1e12, 0.05) == pytest.approx(20)


def test_gustafson_by_hand() -> None:
    assert gustafson(10, 0.1) == pytest.approx(9.1)
    assert gustafson(1, 0.7) == 1


def test_karp_flatt_recovers_the_serial_share() -> None:
    for number in (2, 8, 1024):
        assert karp_flatt(number, amdahl(number, 0.07)) == pytest.approx(0.07)


def test_speedup_is_relative_to_the_smallest_run() -> None:
    assert speedups([1, 2, 4], [8.0, 4.0, 4.0]) == [1, 2, 2]
    assert speedups([4, 2], [4.0, 8.0]) == [4, 2]
    assert strong_efficiency([1, 2, 4], [8.0, 4.0, 4.0]) == [1, 1, 0.5]


def test_weak_efficiency_is_one_when_the_time_stays() -> None:
    assert weak_efficiency([1, 2, 4], [5.0, 5.0, 10.0]) == pytest.approx([1, 1, 0.5])
    assert weak_efficiency([2, 4], [5.0, 5.0]) == pytest.approx([1, 1])


@given(st.floats(0, 1), st.floats(1e-6, 1e6))
def test_a_fit_to_exact_data_is_exact(serial: float, single: float) -> None:
    fit = fit_amdahl(NUMBERS, times(serial, single))
    assert fit.serial_fraction == pytest.approx(serial, abs=1e-9)
    assert fit.single == pytest.approx(single, rel=1e-9)
    assert fit.residual < 1e-9
    assert fit.time(32) == pytest.approx(single * (serial + (1 - serial) / 32), rel=1e-8)


def test_a_fit_needs_no_run_on_one_device() -> None:
    assert fit_amdahl([2, 8, 64], times(0.2, 3.0, [2, 8, 64])).serial_fraction == pytest.approx(0.2)


def test_the_limit_is_one_over_the_serial_fraction() -> None:
    assert fit_amdahl(NUMBERS, times(0.25)).limit == pytest.approx(4)
    assert AmdahlFit(0.0, 1.0, 0.0).limit == math.inf


def test_faster_than_linear_is_no_serial_fraction_and_slower_than_one_is_all() -> None:
    faster = fit_amdahl([1, 2, 4], [8.0, 3.0, 1.0])
    assert faster.serial_fraction == 0.0
    assert faster.residual > 0
    slower = fit_amdahl([1, 2, 4], [1.0, 1.5, 2.0])
    assert slower.serial_fraction == 1.0
    assert 1.0 < slower.single < 2.0


@given(st.lists(st.floats(0.1, 10), min_size=5, max_size=5))
def test_a_fit_is_no_worse_than_its_neighbours(measured: list[float]) -> None:
    def error(serial: float, single: float) -> float:
        return sum((t / m - 1) ** 2 for t, m in zip(times(serial, single), measured, strict=True))

    fit = fit_amdahl(NUMBERS, measured)
    assert 0 <= fit.serial_fraction <= 1
    least = error(fit.serial_fraction, fit.single)
    for step in (-1e-3, 1e-3):
        assert least <= error(min(1, max(0, fit.serial_fraction + step)), fit.single) * (1 + 1e-9) + 1e-12
        assert least <= error(fit.serial_fraction, fit.single * (1 + step)) * (1 + 1e-9) + 1e-12


@given(st.floats(0, 1))
def test_gustafsons_share_is_recovered(serial: float) -> None:
    numbers = [1, 2, 4, 8]
    weak = [7.0 * number / gustafson(number, serial) for number in numbers]
    assert fit_gustafson(numbers, weak) == pytest.approx(serial, abs=1e-9)


@pytest.mark.parametrize(
    ("numbers", "measured", "text"),
    [
        ([1, 2], [1.0], "each number of devices needs its time: got 2 sizes and 1 times."),
        ([], [], "each number of devices needs its time: got 0 sizes and 0 times."),
        ([1, 2], [1.0, 0.0], "a run on 2 devices took 0.0 s: both must be above zero. Leave this run out."),
        ([1, 2], [math.nan, 1.0], "a run on 1 devices took nan s: both must be above zero. Leave this run out."),
        ([0, 2], [1.0, 1.0], "a run on 0 devices took 1.0 s: both must be above zero. Leave this run out."),
        ([2, 2], [1.0, 1.1], "a fit needs at least two different numbers of devices, got [2, 2]. Measure more sizes."),
    ],
)
def test_measurements_that_give_no_fit(numbers: list[int], measured: list[float], text: str) -> None:
    with pytest.raises(ScalingError) as error:
        fit_amdahl(numbers, measured)
    assert str(error.value) == text
    assert isinstance(error.value, ValueError)


def test_gustafson_needs_more_than_one_device() -> None:
    with pytest.raises(ScalingError, match=r"a fit needs a run on more than one device, got \[1\]\."):
        fit_gustafson([1], [2.0])
