"""What does a primitive cost on a simulated accelerator?

The tensor package announces each primitive (``tensor.observe``); this listener turns it into time on the rank's
clock: a fixed cost of starting it, then the roofline (the larger of arithmetic and memory traffic,
``cost.roofline``), stretched by the rank's own speed. It hands out memory tokens from the rank's allocator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simdist.cluster import Accelerator
from simdist.cost import roofline

from .memory import Allocation, Allocator

__all__ = ["Billing"]


class Billing:
    """The listener of one simulated rank.

    Args:
        charge: (kind, name, seconds): the rank's accelerator is busy.
        accelerator: what the rank computes on.
        allocator: the accelerator's memory.
    """

    __slots__ = ("accelerator", "allocate", "charge", "overhead")

    def __init__(
        self, charge: Callable[[str, str, float], None], accelerator: Accelerator, allocator: Allocator
    ) -> None:
        self.charge, self.accelerator = charge, accelerator
        self.overhead = accelerator.launch_overhead
        self.allocate: Callable[[int, str], Allocation] = allocator.allocate

    def primitive(
        self, name: str, phase: str, flops: float, nbytes: float, dtype: Any, matmul: tuple[int, int, int] | None
    ) -> None:
        """Charge one primitive to the rank."""
        if self.overhead:
            self.charge("launch", name, self.overhead)
        self.charge(phase, name, roofline.seconds(self.accelerator, flops, nbytes, dtype, matmul))
