from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist import units


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1.0, "1 s"),
        (90.0, "90 s"),
        (1500.0, "1500 s"),
        (0.0012, "1.2 ms"),
        (35e-6, "35 us"),
        (600e-9, "600 ns"),
        (0.5e-9, "0.5 ns"),
        (-0.002, "-2 ms"),
        (0.9996, "1000 ms"),
    ],
)
def test_times_for_a_person(seconds: float, text: str) -> None:
    assert units.format_time(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1500, "1.5 kB"),
        (80e9, "80 GB"),
        (2**30, "1.07 GB"),
        (3e12, "3 TB"),
        (12_300_000, "12.3 MB"),
    ],
)
def test_sizes_for_a_person(number: float, text: str) -> None:
    assert units.format_bytes(number) == text


def test_rates_for_a_person() -> None:
    assert units.format_rate(300 * units.GB) == "300 GB/s"
    assert units.format_flops(units.tflops(312)) == "312 TFLOP/s"
    assert units.format_flops(units.gflops(2.5)) == "2.5 GFLOP/s"
    assert units.format_flops(2e15) == "2 PFLOP/s"


def test_decimal_and_binary_units_differ() -> None:
    assert (units.KB, units.MB, units.GB, units.TB) == (1e3, 1e6, 1e9, 1e12)
    assert (units.KiB, units.MiB, units.GiB, units.TiB) == (1024, 1024**2, 1024**3, 1024**4)
    assert (units.ns, units.us, units.ms) == (1e-9, 1e-6, 1e-3)


def test_network_cards_are_sold_in_bits() -> None:
    assert units.gbit(400) == 50 * units.GB
    assert units.gbit(10) == 1.25 * units.GB


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_a_formatted_time_is_within_half_a_percent(seconds: float) -> None:
    number, unit = units.format_time(seconds).split()
    scale = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
    assert float(number) * scale == pytest.approx(seconds, rel=5.1e-3)


def test_every_public_name_exists() -> None:
    assert all(hasattr(units, name) for name in units.__all__)
