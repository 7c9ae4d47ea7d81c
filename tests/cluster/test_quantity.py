"""Do numbers with units read and write back exactly?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.cluster import quantity
from simdist.errors import ClusterError


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("300 GB/s", "rate", 300e9), ("400 Gbit/s", "rate", 50e9), ("100 Gbps", "rate", 12.5e9), ("1 GiB/s", "rate", 2.0**30),
        ("10 Gb/s", "rate", 1.25e9), ("3.4 us", "time", 3.4e-6), ("3.4 µs", "time", 3.4e-6), ("1e-6 s", "time", 1e-6),
        ("2 ms", "time", 2e-3), ("80 GB", "bytes", 80e9), ("80GiB", "bytes", 80 * 2.0**30), (" 4 kB ", "bytes", 4e3),
        ("312 TFLOP/s", "flops", 312e12), ("312 TFLOPS", "flops", 312e12), ("1.5 PFLOP/s", "flops", 1.5e15),
        ("5", "time", 5.0), (5, "time", 5.0), (2.5e9, "rate", 2.5e9), ("-3 us", "time", -3e-6),
    ],
)  # fmt: skip
def test_a_text_or_a_number_is_read_as_si(text: object, kind: str, value: float) -> None:
    assert quantity.parse(text, kind, "x") == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (
            "fast",
            "rate",
            "link 'a': bandwidth: cannot read 'fast' as a quantity. Write a number, or a text like '300 GB/s'.",
        ),
        (None, "time", "link 'a': bandwidth: cannot read None as a quantity. Write a number, or a text like '3.4 us'."),
        (True, "bytes", "link 'a': bandwidth: cannot read True as a quantity. Write a number, or a text like '80 GB'."),
        (
            "3 GB",
            "rate",
            "link 'a': bandwidth: '3 GB' has the unit 'GB', which is none of B/s, kB/s, MB/s, GB/s, TB/s, PB/s, KiB/s, MiB/s, "
            "GiB/s, TiB/s, bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, Pbit/s.",
        ),
        ("3 sec", "time", "link 'a': bandwidth: '3 sec' has the unit 'sec', which is none of s, ms, us, ns."),
        ("1.2.3 s", "time", "link 'a': bandwidth: cannot read the number '1.2.3' in '1.2.3 s'."),
    ],
)
def test_what_cannot_be_read_is_named(value: object, kind: str, text: str) -> None:
    with pytest.raises(ClusterError) as error:
        quantity.parse(value, kind, "link 'a': bandwidth")
    assert str(error.value).startswith(text)


@pytest.mark.parametrize(("text", "hint"), [("3 gb/s", "'GB/s'"), ("3 Gibit/s", "'Gbit/s'"), ("3 GiBs", "'GiB/s'")])
def test_a_misspelt_unit_gets_the_nearest(text: str, hint: str) -> None:
    with pytest.raises(ClusterError) as error:
        quantity.parse(text, "rate", "x")
    assert str(error.value).partition("Did you mean ")[2].startswith(hint)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (300e9, "rate", "300 GB/s"), (16e9, "bytes", "16 GB"), (4 * 2.0**30, "bytes", "4 GiB"), (3e-7, "time", "0.3 us"),
        (312e12, "flops", "312 TFLOP/s"), (0.0, "time", "0 s"), (1 / 3, "time", 1 / 3), (1e40, "rate", 1e40),
    ],
)  # fmt: skip
def test_the_shortest_exact_text_is_written(value: float, kind: str, text: object) -> None:
    assert quantity.write(value, kind) == text


@given(st.floats(min_value=0, max_value=1e20), st.sampled_from(sorted(quantity.UNITS)))
def test_what_is_written_reads_back_to_the_same_bits(value: float, kind: str) -> None:
    assert quantity.parse(quantity.write(value, kind), kind, "x") == value
