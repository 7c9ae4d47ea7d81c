"""How is a number with a unit written in a file?

``parse`` reads a plain number (SI: seconds, bytes, bytes per second, flop per second) or a text such as ``"300 GB/s"``,
``"400 Gbit/s"``, ``"3.4 us"``, ``"80 GiB"``, ``"312 TFLOP/s"``. ``write`` gives the shortest text that reads back as exactly
the same number, or the plain number if there is none.
"""

from __future__ import annotations

import re
from typing import Any

from simdist.cluster import field
from simdist.errors import ClusterError

__all__ = ["UNITS", "parse", "write"]

_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}

UNITS: dict[str, dict[str, float]] = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "bytes": {prefix + "B": size for prefix, size in {**_PREFIXES, **_BINARY}.items()},
    "rate": {
        **{prefix + "B/s": size for prefix, size in {**_PREFIXES, **_BINARY}.items()},
        **{prefix + "bit/s": size / 8 for prefix, size in _PREFIXES.items()},
    },
    "flops": {prefix + "FLOP/s": size for prefix, size in _PREFIXES.items()},
}
"""For each kind of quantity: unit -> its size in SI units."""

_SPELLINGS = {"µs": "us", "μs": "us", "Gbps": "Gbit/s", "Mbps": "Mbit/s", "Gb/s": "Gbit/s", "FLOPS": "FLOP/s"}
_PATTERN = re.compile(r"\s*([-+]?[0-9._]+(?:[eE][-+]?[0-9]+)?)\s*(\S*)\s*\Z")


def parse(value: Any, kind: str, where: str) -> float:
    """A number from a file as SI.

    Args:
        value: number, or text of a number and a unit.
        kind: a key of ``UNITS``.
        where: what is being read, for the error: ``"link 'NVLink3': bandwidth"``.

    Raises:
        ClusterError: no number, or a unit that does not measure this kind of thing.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    units = UNITS[kind]
    match = _PATTERN.match(value) if isinstance(value, str) else None
    if match is None:
        raise ClusterError(
            f"{where}: cannot read {value!r} as a quantity. Write a number, or a text like {_example(kind)!r}."
        )
    number, unit = match.groups()
    unit = _SPELLINGS.get(unit, unit)
    for long, short in (("TFLOPS", "TFLOP/s"), ("GFLOPS", "GFLOP/s"), ("PFLOPS", "PFLOP/s")):
        unit = short if unit == long else unit
    if unit not in units and unit != "":
        raise ClusterError(
            f"{where}: {value!r} has the unit {unit!r}, which is none of {', '.join(units)}.{field.hint(unit, units)}"
        )
    try:
        return float(number) * (units[unit] if unit else 1.0)
    except ValueError:
        raise ClusterError(f"{where}: cannot read the number {number!r} in {value!r}.") from None


def write(value: float, kind: str) -> str | float:
    """The shortest text with a unit that ``parse`` turns back into exactly ``value``, else ``value`` itself."""
    best: str | None = None
    for unit in UNITS[kind]:
        text = f"{value / UNITS[kind][unit]:.6g} {unit}"
        plain = "e" not in text.split()[0] and parse(text, kind, "") == value
        if plain and (best is None or len(text) < len(best)):
            best = text
    return value if best is None else best


def _example(kind: str) -> str:
    return {"time": "3.4 us", "bytes": "80 GB", "rate": "300 GB/s", "flops": "312 TFLOP/s"}[kind]
