"""What do N devices gain, and what is the limit?

* *Strong scaling*: the same problem on N devices. Speed-up S = T1 / TN, efficiency S / N. Amdahl (1967, AFIPS 30): with a serial
  share s of the time on one device, S(N) = 1 / (s + (1 - s) / N), never above 1 / s.
* *Weak scaling*: a problem that grows with N. Gustafson (1988, CACM 31(5)): with a serial share s of the time on N devices, the
  scaled speed-up is N - s (N - 1). Efficiency is T1 / TN.
* Karp and Flatt (1990, CACM 33(5)): the serial share seen at one N, e = (1/S - 1/N) / (1 - 1/N). If it rises with N, the
  loss is overhead (communication), not a serial part.

In data-parallel training the "serial" share is mostly exposed communication; that it has Amdahl's form is a fit, not a law.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simdist.errors import SimdistError

__all__ = [
    "AmdahlFit", "ScalingError", "amdahl", "fit_amdahl", "fit_gustafson", "gustafson", "karp_flatt", "speedups",
    "strong_efficiency", "weak_efficiency",
]  # fmt: skip


class ScalingError(SimdistError, ValueError):
    """Measurements from which no scaling can be computed."""


class AmdahlFit(NamedTuple):
    """``time(N) = single * (serial_fraction + (1 - serial_fraction) / N)``.

    ``single`` is the fitted time on one device in seconds, ``residual`` the root mean square relative error of the fit.
    """

    serial_fraction: float
    single: float
    residual: float

    def time(self, num_devices: float) -> float:
        """Seconds on ``num_devices`` according to the fit."""
        return self.single * (self.serial_fraction + (1 - self.serial_fraction) / num_devices)

    @property
    def limit(self) -> float:
        """The largest speed-up that any number of devices can give."""
        return 1 / self.serial_fraction if self.serial_fraction > 0 else float("inf")


def amdahl(num_devices: float, serial_fraction: float) -> float:
    """Speed-up of a fixed problem: 1 / (s + (1 - s) / N)."""
    return 1 / (serial_fraction + (1 - serial_fraction) / num_devices)


def gustafson(num_devices: float, serial_fraction: float) -> float:
    """Scaled speed-up of a growing problem: N - s (N - 1)."""
    return num_devices - serial_fraction * (num_devices - 1)


def karp_flatt(num_devices: float, speedup: float) -> float:
    """The serial share that explains one measured speed-up on more than one device."""
    return (1 / speedup - 1 / num_devices) / (1 - 1 / num_devices)


def speedups(num_devices: Sequence[int], times: Sequence[float]) -> list[float]:
    """Strong scaling relative to the smallest run, which is taken to be perfect: S(N0) = N0.

    Raises:
        ScalingError: sizes and times that do not fit together, or times that are not above zero.
    """
    _check(num_devices, times)
    base = min(range(len(times)), key=lambda index: num_devices[index])
    return [num_devices[base] * times[base] / time for time in times]


def strong_efficiency(num_devices: Sequence[int], times: Sequence[float]) -> list[float]:
    """S(N) / N of a fixed problem."""
    return [speedup / number for speedup, number in zip(speedups(num_devices, times), num_devices, strict=True)]


def weak_efficiency(num_devices: Sequence[int], times: Sequence[float]) -> list[float]:
    """T(N0) / T(N) of a problem that grows with N."""
    return strong_efficiency(num_devices, [time / number for time, number in zip(times, num_devices, strict=True)])


def fit_amdahl(num_devices: Sequence[int], times: Sequence[float]) -> AmdahlFit:
    """The serial fraction, by least squares of relative errors.

    T(N) = a + b / N is linear in (a, b); each equation is divided by its measured time so that the short times of large N
    weigh as much as the long ones. s = a / (a + b), kept in [0, 1]: faster than linear is s = 0, slower than one device s = 1.

    Args:
        num_devices: N of each measurement, at least two different ones.
        times: seconds, above zero.

    Raises:
        ScalingError: fewer than two different N, sizes and times that do not fit together, times that are not above zero.
    """
    _check(num_devices, times)
    if len(set(num_devices)) < 2:
        raise ScalingError(
            f"a fit needs at least two different numbers of devices, got {list(num_devices)}. Measure more sizes."
        )
    fixed, shared = _lines(num_devices, times)
    if fixed < 0:
        fixed, shared = 0.0, _one_line([1 / number for number in num_devices], times)
    elif shared < 0:
        fixed, shared = _one_line([1.0] * len(times), times), 0.0
    errors = [(fixed + shared / number) / time - 1 for number, time in zip(num_devices, times, strict=True)]
    residual = (sum(error * error for error in errors) / len(errors)) ** 0.5
    return AmdahlFit(fixed / (fixed + shared), fixed + shared, residual)


def fit_gustafson(num_devices: Sequence[int], times: Sequence[float]) -> float:
    """The serial share of a weak-scaling series, by least squares, in [0, 1].

    With the scaled speed-up S(N) = N T(N0) / T(N) of each measurement, N - S = s (N - 1).

    Raises:
        ScalingError: nothing but one device, sizes and times that do not fit together, times that are not above zero.
    """
    scaled = [efficiency * number for efficiency, number in zip(_weak(num_devices, times), num_devices, strict=True)]
    weight = sum((number - 1) ** 2 for number in num_devices)
    if weight == 0:
        raise ScalingError(f"a fit needs a run on more than one device, got {list(num_devices)}. Measure more sizes.")
    share = sum((number - speedup) * (number - 1) for number, speedup in zip(num_devices, scaled, strict=True)) / weight
    return min(1.0, max(0.0, share))


def _weak(num_devices: Sequence[int], times: Sequence[float]) -> list[float]:
    _check(num_devices, times)
    return weak_efficiency(num_devices, times)


def _lines(num_devices: Sequence[int], times: Sequence[float]) -> tuple[float, float]:
    """(a, b) that minimise the sum of ((a + b / N) / T - 1)^2: two normal equations."""
    ones = [1 / time for time in times]
    parts = [1 / (number * time) for number, time in zip(num_devices, times, strict=True)]
    aa, ab, bb = (
        sum(x * x for x in ones),
        sum(x * y for x, y in zip(ones, parts, strict=True)),
        sum(y * y for y in parts),
    )
    determinant = aa * bb - ab * ab
    return (bb * sum(ones) - ab * sum(parts)) / determinant, (aa * sum(parts) - ab * sum(ones)) / determinant


def _one_line(shape: Sequence[float], times: Sequence[float]) -> float:
    """The c that minimises the sum of (c shape / T - 1)^2."""
    parts = [part / time for part, time in zip(shape, times, strict=True)]
    return sum(parts) / sum(part * part for part in parts)


def _check(num_devices: Sequence[int], times: Sequence[float]) -> None:
    if len(num_devices) != len(times) or not num_devices:
        raise ScalingError(
            f"each number of devices needs its time: got {len(num_devices)} sizes and {len(times)} times."
        )
    for number, time in zip(num_devices, times, strict=True):
        if number < 1 or not 0 < time < float("inf"):
            raise ScalingError(f"a run on {number} devices took {time} s: both must be above zero. Leave this run out.")
