"""How fast does one device compute?

An accelerator has a peak rate for each dtype, a memory with a bandwidth, a fixed cost for starting a primitive, and a
curve: which share of the peak a matrix product of a given size reaches. ``cost.roofline`` turns these into seconds.

The size of a product (m, n, k) is the side of the cube with the same work, (m n k)^(1/3). Between two points of the curve
the share is interpolated linearly in log(size); outside it is the share of the nearest end. An empty curve means that no
source says anything better than the peak: the share is 1.

``"float32"`` is the rate at which the vendor's library multiplies float32 matrices: TF32 tensor cores where there are any.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from simdist.cluster import field
from simdist.errors import ClusterError

__all__ = ["DTYPES", "Accelerator", "saturation"]

DTYPES: dict[str, int] = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8": 1, "int8": 1}
"""Every dtype that may have a peak rate of its own, and its bytes."""

_CACHE_LIMIT = 65_536


def saturation(ceiling: float, half_size: float) -> tuple[tuple[float, float], ...]:
    """A curve that rises as size / (size + half_size) towards ``ceiling``, as a table from 16 to 32,768.

    Args:
        ceiling: share of the peak that the largest products reach.
        half_size: the size at which half of the ceiling is reached.
    """
    return tuple((float(2**p), ceiling * 2**p / (2**p + half_size)) for p in range(4, 16))


@dataclass(frozen=True)
class Accelerator:
    """One device.

    Args:
        name: for people and for the catalogue.
        peak_flops: flop per second for each dtype of ``DTYPES`` (a mapping; kept as sorted pairs). ``"float32"`` must be
            there, other dtypes fall back on it.
        memory: bytes.
        memory_bandwidth: bytes per second between memory and arithmetic.
        launch_overhead: seconds that starting one primitive costs.
        efficiency: (size, share of the peak) of matrix products, sizes ascending; empty means 1 everywhere.
        sources: (key, where its number comes from).

    Raises:
        ClusterError: a number that cannot be true; the text names key and value.
    """

    name: str
    peak_flops: tuple[tuple[str, float], ...] | Mapping[str, float]
    memory: float
    memory_bandwidth: float
    launch_overhead: float = 0.0
    efficiency: tuple[tuple[float, float], ...] = ()
    sources: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        thing = f"accelerator {self.name!r}"
        keep = object.__setattr__
        keep(self, "peak_flops", self._checked_peaks(thing))
        keep(self, "memory", field.positive(thing, "memory", self.memory, "It is in bytes: 80 * units.GB."))
        hint = "It is in bytes per second: 2 * units.TB."
        keep(self, "memory_bandwidth", field.positive(thing, "memory_bandwidth", self.memory_bandwidth, hint))
        hint = "It is in seconds: 5 * units.us."
        keep(self, "launch_overhead", field.not_negative(thing, "launch_overhead", self.launch_overhead, hint))
        keep(self, "efficiency", self._checked_curve(thing))
        sources = self.sources.items() if isinstance(self.sources, Mapping) else self.sources
        keep(self, "sources", tuple((str(key), str(text)) for key, text in sources))

    def _checked_peaks(self, thing: str) -> tuple[tuple[str, float], ...]:
        peaks = dict(self.peak_flops)
        field.known_keys(f"{thing}: peak_flops", peaks, DTYPES)
        if "float32" not in peaks:
            raise ClusterError(
                f"{thing}: peak_flops must have 'float32', got {sorted(peaks)}. Other dtypes fall back on it."
            )
        hint = "It is in flop per second: units.tflops(156)."
        return tuple((key, field.positive(thing, f"peak_flops[{key!r}]", peaks[key], hint)) for key in sorted(peaks))

    def _checked_curve(self, thing: str) -> tuple[tuple[float, float], ...]:
        points: list[tuple[float, float]] = []
        for point in self.efficiency:
            if not isinstance(point, (tuple, list)) or len(point) != 2:
                raise ClusterError(f"{thing}: efficiency must be a list of [size, share], got {point!r} in it.")
            size = field.positive(thing, "efficiency size", point[0])
            if points and size <= points[-1][0]:
                raise ClusterError(f"{thing}: efficiency sizes must ascend, got {point[0]!r} after {points[-1][0]!r}.")
            points.append((size, field.fraction(thing, f"efficiency at size {size:g}", point[1])))
        return tuple(points)

    @cached_property
    def _peaks(self) -> dict[Any, float]:
        return dict(self.peak_flops)

    @cached_property
    def _efficiencies(self) -> dict[tuple[int, int, int], float]:
        return {}

    @cached_property
    def _log_sizes(self) -> tuple[list[float], list[float]]:
        return [math.log(size) for size, _ in self.efficiency], [share for _, share in self.efficiency]

    def peak(self, dtype: Any) -> float:
        """Flop per second for ``dtype`` (a name or a numpy dtype).

        A dtype without a number of its own takes float32's: half of it where the elements are twice as wide, never more.
        """
        rate = self._peaks.get(dtype)
        return rate if rate is not None else self._learn_peak(dtype)

    def _learn_peak(self, dtype: Any) -> float:
        name = str(getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or dtype)
        rate = self._peaks.get(name)
        if rate is None:
            width = getattr(dtype, "itemsize", None)
            width = width if isinstance(width, int) else DTYPES.get(name, 4)
            rate = self._peaks["float32"] * min(1.0, 4 / max(width, 1))
        self._peaks[dtype] = rate
        return rate

    def matmul_efficiency(self, m: int, n: int, k: int) -> float:
        """Share of the peak, in (0, 1], that a product (m, k) x (k, n) reaches."""
        cache = self._efficiencies
        share = cache.get((m, n, k))
        if share is None:
            if len(cache) >= _CACHE_LIMIT:
                cache.clear()
            share = cache[m, n, k] = self._interpolated(m, n, k)
        return share

    def _interpolated(self, m: int, n: int, k: int) -> float:
        sizes, shares = self._log_sizes
        if not sizes:
            return 1.0
        if m <= 0 or n <= 0 or k <= 0:
            return shares[0]
        size = (math.log(m) + math.log(n) + math.log(k)) / 3
        right = bisect_left(sizes, size)
        if right == 0:
            return shares[0]
        if right == len(sizes):
            return shares[-1]
        low, high = sizes[right - 1], sizes[right]
        weight = (size - low) / (high - low)
        return shares[right - 1] * (1 - weight) + shares[right] * weight
