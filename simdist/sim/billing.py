"""What does a primitive cost on a simulated accelerator?

The tensor package announces each primitive (``tensor.observe``); this listener turns it into time on the rank's
clock: a fixed cost of starting it, then the roofline (the larger of arithmetic and memory traffic,
``cost.roofline``), stretched by the rank's own speed. It hands out memory tokens from the rank's allocator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simdist.cost import roofline

if TYPE_CHECKING:
    from .memory import Allocation
    from .rank import SimRank

__all__ = ["Billing"]


class Billing:
    """The listener of one simulated rank."""

    __slots__ = ("accelerator", "rank")

    def __init__(self, rank: SimRank) -> None:
        self.rank = rank
        self.accelerator = rank.accelerator

    def primitive(
        self, name: str, phase: str, flops: float, nbytes: float, dtype: Any, matmul: tuple[int, int, int] | None
    ) -> None:
        """Charge one primitive to the rank."""
        rank = self.rank
        overhead = self.accelerator.launch_overhead
        if overhead:
            rank.charge("launch", name, overhead)
        rank.charge(phase, name, roofline.seconds(self.accelerator, flops, nbytes, dtype, matmul))

    def allocate(self, nbytes: int, kind: str) -> Allocation:
        """Hold memory of the rank's accelerator."""
        return self.rank.allocator.allocate(nbytes, kind)
