"""Does the ring's formula describe measured all-reduces, and what does one fit say about other numbers of ranks?

Three questions, three tables:

1. **Fit.** Latency and bandwidth of each curve from the sizes with even index, judged by those with odd index: the mean relative
   error has to be at most ``BAR``. The simulator, given a machine with these two numbers, must give the same times.
2. **Carry over.** A fit at some numbers of ranks, used for others. No bar: it shows what a fit cannot know.
3. **Presets.** The machines of ``sd.clusters`` as they are, from published link rates, with nothing fitted. No bar either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from simdist import distributed
from simdist.cluster import Cluster, Link, Node
from simdist.cluster.catalogue import resolve
from simdist.launch import run
from simdist.tensor import zeros
from simdist.units import MiB, format_bytes, format_rate, format_time

from .curve import SOURCE, Curve, curves
from .ring_fit import RingFit, fit

__all__ = ["BANDS", "BAR", "Carried", "Fitted", "NcclValidation", "PresetTime", "nccl", "simulated"]

BAR = 0.02
"""The largest mean relative error of a fit on the sizes that it has not seen."""

BANDS = tuple((low * MiB, high * MiB) for low, high in ((1, 4), (4, 16), (16, 64), (64, 256), (256, 1025)))
"""Ranges of sizes, bytes, for which the error is told apart; the upper end does not belong to it."""

Cells = tuple[str, ...]

_PRESETS = {"a100": "dgx-a100", "v100": "dgx1-v100"}
_LOOKED_AT = (1 * MiB, 16 * MiB, 256 * MiB, 1024 * MiB)


class Fitted(NamedTuple):
    """One curve's fit.

    Attributes:
        name: ``"a100 x 8"``.
        found: the parameters.
        mean: mean of the relative errors' sizes at the sizes with odd index.
        largest: the largest of them.
        bands: the mean of each range of ``BANDS``.
        simulated: the largest relative difference between the simulator's times and the formula's, at a few sizes.
    """

    name: str
    found: RingFit
    mean: float
    largest: float
    bands: tuple[float, ...]
    simulated: float


class Carried(NamedTuple):
    """A fit used elsewhere.

    Attributes:
        machine: where it was measured.
        fitted: numbers of ranks to which it was fitted.
        used: number of ranks for which it was used.
        found: the parameters.
        mean: mean size of the relative errors.
        bias: mean of the relative errors: positive if the computed times are too long.
    """

    machine: str
    fitted: tuple[int, ...]
    used: int
    found: RingFit
    mean: float
    bias: float


class PresetTime(NamedTuple):
    """A preset's time beside a measured one, seconds."""

    preset: str
    world_size: int
    nbytes: int
    simulated: float
    measured: float


@dataclass(frozen=True)
class NcclValidation:
    """What was found.

    Attributes:
        fits: one for each curve.
        carried: each fit at one or two numbers of ranks, used for the others of its machine.
        presets: the uncalibrated presets.
    """

    fits: tuple[Fitted, ...]
    carried: tuple[Carried, ...]
    presets: tuple[PresetTime, ...]

    @property
    def passed(self) -> bool:
        """Whether every curve's fit keeps the bar."""
        return all(row.mean <= BAR for row in self.fits)

    def __str__(self) -> str:
        verdict = "all within" if self.passed else "NOT all within"
        lines = [
            f"measured: {SOURCE}",
            "",
            f"1. A ring's latency and bandwidth, fitted to the sizes with even index, judged by the others: {verdict} "
            f"{BAR:.0%} in the mean",
            *_table(_fit_rows(self.fits)),
            "   simulated: how far sd.run, on a machine with these two numbers, is from the formula",
            "",
            "2. A fit used for other numbers of ranks (no bar)",
            *_table(_carried_rows(self.carried)),
            *_WHY,
            "",
            "3. Presets from published link rates, nothing fitted (no bar)",
            *_table(_preset_rows(self.presets)),
        ]
        return "\n".join(lines)


_WHY = (
    "   Why: the formula gives each step the same latency and each rank the same bandwidth, however many ranks there are.",
    "   v100: NVLink joins these GPUs in pairs. Between two, NCCL has what one cable of 25 GB/s gives; among four and eight it",
    "   runs several rings over different cables at once, so a rank's bandwidth grows sixfold. A fit at two cannot know that.",
    "   a100: all cables end at a switch, and the bandwidth changes by a sixth only. But most of the constant part of a call is",
    "   there whatever the number of steps, and the formula divides it among 2 (p - 1) of them: a step's latency falls with p.",
)


def nccl() -> NcclValidation:
    """Fit, judge, carry over, compare; takes a second or two.

    Returns:
        The three tables; printing it prints them.
    """
    every = curves()
    machines = sorted({curve.machine for curve in every})
    carried = [row for machine in machines for row in _carried([curve for curve in every if curve.machine == machine])]
    presets = [
        PresetTime(
            preset, 8, nbytes, simulated(resolve(preset, 8), 8, nbytes), float(curve.seconds[curve.nbytes == nbytes][0])
        )
        for machine, preset in _PRESETS.items()
        for curve in every
        if (curve.machine, curve.world_size) == (machine, 8)
        for nbytes in _LOOKED_AT
    ]
    return NcclValidation(tuple(map(_fitted, every)), tuple(carried), tuple(presets))


def simulated(cluster: Cluster, world_size: int, nbytes: int) -> float:
    """Seconds of a ring all-reduce as ``sd.run`` simulates it.

    Args:
        cluster: the machines.
        world_size: number of ranks.
        nbytes: the buffer, a multiple of 4.
    """
    done = run(
        _all_reduce, nbytes, world_size=world_size, cluster=cluster, device="meta", network="steps",
        algorithms={"all_reduce": "ring_all_reduce"},
    )  # fmt: skip
    (use,) = done.collectives()
    return use.seconds


def _all_reduce(rank: int, world_size: int, nbytes: int) -> None:
    distributed.all_reduce(zeros(nbytes // 4))


def _fitted(curve: Curve) -> Fitted:
    found, judged = fit([curve.half(odd=False)]), curve.half(odd=True)
    errors = np.abs(found.errors(judged))
    bands = [errors[(judged.nbytes >= low) & (judged.nbytes < high)].mean() for low, high in BANDS]
    device = resolve("dgx-a100", 8).nodes[0].accelerators[0]  # what computes does not matter here
    half = Link(found.bandwidth, found.latency / 2)
    machine = Cluster("fitted", (Node((device,) * curve.world_size, fabric=half),))
    formula = [found.seconds(curve.world_size, nbytes) for nbytes in _LOOKED_AT]
    times = [simulated(machine, curve.world_size, nbytes) for nbytes in _LOOKED_AT]
    apart = max(abs(time / expected - 1) for time, expected in zip(times, formula, strict=True))
    return Fitted(curve.name, found, float(errors.mean()), float(errors.max()), tuple(map(float, bands)), apart)


def _carried(measured: Sequence[Curve]) -> Iterable[Carried]:
    for number in (1, 2):
        for chosen in combinations(measured, number):
            found = fit([curve.half(odd=False) for curve in chosen])
            sizes = tuple(curve.world_size for curve in chosen)
            for curve in measured:
                if curve not in chosen:
                    errors = found.errors(curve.half(odd=True))
                    mean, bias = float(np.abs(errors).mean()), float(errors.mean())
                    yield Carried(curve.machine, sizes, curve.world_size, found, mean, bias)


def _fit_rows(rows: Sequence[Fitted]) -> list[Cells]:
    bands = [f"{low // MiB}-{min(high, 1024 * MiB) // MiB} MiB" for low, high in BANDS]
    head: Cells = ("curve", "a step's latency", "bandwidth", "mean error", "largest", *bands, "simulated")
    found: list[Cells] = [
        (
            row.name, format_time(row.found.latency), format_rate(row.found.bandwidth), f"{row.mean:.2%}",
            f"{row.largest:.1%}", *(f"{error:.1%}" for error in row.bands),
            "< 1e-12" if row.simulated < 1e-12 else f"{row.simulated:.0e}",
        )
        for row in rows
    ]  # fmt: skip
    return [head, *found]


def _carried_rows(rows: Sequence[Carried]) -> list[Cells]:
    head: Cells = (
        "machine",
        "fitted at",
        "used for",
        "a step's latency",
        "bandwidth",
        "mean error",
        "computed times are",
    )
    found: list[Cells] = [
        (
            row.machine, " and ".join(map(str, row.fitted)), str(row.used), format_time(row.found.latency),
            format_rate(row.found.bandwidth), f"{row.mean:.1%}", f"{abs(row.bias):.1%} too {'long' if row.bias > 0 else 'short'}",
        )
        for row in rows
    ]  # fmt: skip
    return [head, *found]


def _preset_rows(rows: Sequence[PresetTime]) -> list[Cells]:
    head: Cells = ("preset", "ranks", "bytes", "simulated", "measured", "simulated / measured")
    found: list[Cells] = [
        (
            row.preset, str(row.world_size), format_bytes(row.nbytes), format_time(row.simulated),
            format_time(row.measured), f"{row.simulated / row.measured:.2f}",
        )
        for row in rows
    ]  # fmt: skip
    return [head, *found]


def _table(rows: list[Cells]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "   "
        + "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
