"""Which words does everyone share for sizes, times and rates?

Inside simdist there are only seconds, bytes, bytes per second and flop per second. Units exist at the border: where a
person types a number (``50 * GB``, ``2 * us``, ``gbit(400)``) and where a number is printed. ``GB`` is 10**9 bytes,
``GiB`` is 2**30; bits appear only as ``gbit``.
"""

from __future__ import annotations

__all__ = [
    "GB", "KB", "MB", "TB", "GiB", "KiB", "MiB", "TiB", "format_bytes", "format_flops", "format_rate", "format_time",
    "gbit", "gflops", "ms", "ns", "tflops", "us",
]  # fmt: skip

KB, MB, GB, TB = 1e3, 1e6, 1e9, 1e12
KiB, MiB, GiB, TiB = 2**10, 2**20, 2**30, 2**40
ns, us, ms = 1e-9, 1e-6, 1e-3


def gbit(number: float) -> float:
    """``number`` gigabit per second as bytes per second: network cards are sold in bits (10**9 each)."""
    return number * 1e9 / 8


def gflops(number: float) -> float:
    """``number`` GFLOP/s as flop per second."""
    return number * 1e9


def tflops(number: float) -> float:
    """``number`` TFLOP/s as flop per second."""
    return number * 1e12


def _scaled(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    for size, name in steps:
        if abs(value) >= size:
            return f"{value / size:.3g} {name}" if abs(value) / size < 999.5 else f"{value / size:.0f} {name}"
    size, name = steps[-1]
    return f"{value / size:.3g} {name}"


def format_time(seconds: float) -> str:
    """Seconds for a person: ``1.2 ms``, ``35 us``, ``0 s``."""
    if seconds == 0:
        return "0 s"
    return _scaled(seconds, ((1.0, "s"), (ms, "ms"), (us, "us"), (ns, "ns")))


def format_bytes(number: float) -> str:
    """Bytes for a person, decimal units: ``1.5 MB``."""
    return _scaled(number, ((TB, "TB"), (GB, "GB"), (MB, "MB"), (KB, "kB"), (1.0, "B")))


def format_rate(bytes_per_second: float) -> str:
    """A bandwidth for a person: ``300 GB/s``."""
    return format_bytes(bytes_per_second) + "/s"


def format_flops(flop_per_second: float) -> str:
    """A computing rate for a person: ``312 TFLOP/s``."""
    return _scaled(
        flop_per_second, ((1e15, "PFLOP/s"), (1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"), (1.0, "FLOP/s"))
    )
