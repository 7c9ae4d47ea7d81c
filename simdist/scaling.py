"""How does a program's time change with the number of ranks?

A ``Scaling`` holds the measured times and derives the rest with ``cost.speedup``, where the laws and their sources are:

* strong (the whole work stays the same): speed-up T1 / TN, efficiency S / N, the serial fraction of Amdahl's law;
* weak (each rank's work stays the same): scaled speed-up N T1 / TN, efficiency T1 / TN, the serial fraction of Gustafson's.

If the first world size N0 is not 1, it counts as perfect: S(N0) = N0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from simdist.cost import speedup as laws
from simdist.errors import UnknownNameError
from simdist.units import format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MODES", "Scaling"]

MODES: dict[str, str] = {
    "strong": "the whole work stays the same",
    "weak": "each rank's work stays the same",
}
"""What stays the same while the number of ranks grows."""

_NOTHING = 1e-6
"""A serial fraction below this is rounding."""

_MISFIT = 0.1
"""Relative error of the fitted law from which its limit is not believed."""


@dataclass(frozen=True)
class Scaling:
    """Times of one program on several numbers of ranks.

    Attributes:
        world_sizes: numbers of ranks, rising.
        times: seconds of the run on each.
        mode: ``"strong"`` or ``"weak"``.
        name: the program's name.
        cluster: the name of the machines of the largest run.

    Raises:
        UnknownNameError: another mode.
        ScalingError: sizes and times that do not fit together, or times that are not above zero.
    """

    world_sizes: tuple[int, ...]
    times: tuple[float, ...]
    mode: str = "strong"
    name: str = "run"
    cluster: str = ""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UnknownNameError("scaling mode", self.mode, MODES)
        laws.speedups(self.world_sizes, self.times)

    @cached_property
    def efficiency(self) -> list[float]:
        """The share of each rank's time that is gain: 1 is perfect."""
        law = laws.strong_efficiency if self.mode == "strong" else laws.weak_efficiency
        return law(self.world_sizes, self.times)

    @cached_property
    def speedup(self) -> list[float]:
        """How many times faster than one rank (weak: how many times more work in the same time)."""
        return [share * size for share, size in zip(self.efficiency, self.world_sizes, strict=True)]

    @cached_property
    def fit(self) -> laws.AmdahlFit | None:
        """Amdahl's law fitted to the times; None in weak mode, and if there is only one size."""
        if self.mode != "strong" or len(set(self.world_sizes)) < 2:
            return None
        return laws.fit_amdahl(self.world_sizes, self.times)

    @cached_property
    def serial_fraction(self) -> float | None:
        """The share of the time that more ranks do not shorten, by least squares over all sizes; None if there is only one.

        Strong: Amdahl's share of the time on one rank. Weak: Gustafson's share of the time on N ranks.
        """
        if len(set(self.world_sizes)) < 2:
            return None
        if self.fit is not None:
            return self.fit.serial_fraction
        return laws.fit_gustafson(self.world_sizes, self.times)

    def law(self, num_ranks: float) -> float | None:
        """The speed-up on ``num_ranks`` by the fitted law, 1 on one rank; None if nothing could be fitted."""
        share = self.serial_fraction
        if share is None:
            return None
        if self.fit is None:
            return laws.gustafson(num_ranks, share)
        base = min(self.world_sizes)
        return base * self.fit.time(base) / self.fit.time(num_ranks)

    @property
    def limit(self) -> float:
        """The largest speed-up that the fitted law allows; infinite if it allows any, or if nothing could be fitted."""
        if self.fit is None or self.fit.serial_fraction < _NOTHING:
            return float("inf")
        return self.law(float("inf")) or float("inf")

    @property
    def verdict(self) -> str:
        """What the fitted law says in one sentence; empty if there is nothing to fit."""
        share = self.serial_fraction
        if share is None:
            return ""
        if self.fit is None:
            return f"serial fraction {share:.1%} (Gustafson's law): the share of the time that does not grow with the work."
        head = f"serial fraction {share:.1%} (Amdahl's law)"
        if self.fit.residual > _MISFIT:
            return (
                f"{head}, but the times miss that law by {self.fit.residual:.0%}: what more ranks do not shorten is no fixed "
                "share, it changes with their number."
            )
        if self.limit < 1.005 * min(self.world_sizes):
            return f"{head}: more ranks do not help."
        if self.limit == float("inf"):
            return f"{head}: no limit in sight."
        return f"{head}: no number of ranks gives more than {self.limit:.3g}x."

    def __str__(self) -> str:
        head = f"{self.name}: {self.mode} scaling ({MODES[self.mode]})" + (f" on {self.cluster}" * bool(self.cluster))
        lines = [head, f"{'ranks':>6} {'time':>10} {'speed-up':>9} {'efficiency':>11}"]
        rows = zip(self.world_sizes, self.times, self.speedup, self.efficiency, strict=True)
        lines += [f"{size:>6} {format_time(time):>10} {gain:>8.2f}x {share:>11.1%}" for size, time, gain, share in rows]
        return "\n".join(lines + [self.verdict] * bool(self.verdict))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the speed-up with the ideal line and the fitted law, and the efficiency beside it.

        Args:
            ax: matplotlib axes for the speed-up alone, or None for a new figure with both panels.

        Returns:
            The axes of the speed-up; ``.figure`` is the whole picture.
        """
        from simdist.plot.speedup import speedup

        return speedup(self, ax=ax)
