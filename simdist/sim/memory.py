"""Who holds how much of an accelerator's memory?

An allocator counts bytes per class (parameters, gradients, optimizer, activations, buckets, workspace, inputs). It
hands out tokens; the array's owner keeps the token, and when the last reference to it dies the bytes are free. An
activation has two owners, the Tensor and the tape: a variable in the user's code keeps it. So memory is returned
exactly when Python returns it, by reference count: the tape makes no cycles.

The memory of a simulated accelerator is finite: beyond its capacity an allocation raises ``OutOfMemoryError`` with
the table of who holds what.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simdist.errors import OutOfMemoryError
from simdist.units import format_bytes, format_time

__all__ = ["Allocation", "Allocator"]


class Allocator:
    """The memory of one rank's accelerator.

    Args:
        rank: whose it is.
        capacity: bytes.
        clock: gives the rank's time.
        points: the trace's list of (rank, time, kind, bytes held from then on), or None.
    """

    def __init__(self, rank: int, capacity: float, clock: Callable[[], float], points: list[Any] | None) -> None:
        self.rank, self.capacity, self.clock, self.points = rank, capacity, clock, points
        self.held: dict[str, int] = {}
        self.total = 0
        self.peak = 0
        self.peak_time = 0.0
        self.at_peak: dict[str, int] = {}
        self.peaks: dict[str, int] = {}

    def allocate(self, nbytes: int, kind: str) -> Allocation:
        """Hold ``nbytes`` of class ``kind`` until the returned token dies.

        Raises:
            OutOfMemoryError: the accelerator's memory would be exceeded.
        """
        if self.total + nbytes > self.capacity:
            raise OutOfMemoryError(self._full(nbytes, kind))
        token = Allocation(self, nbytes, kind)
        self.change(kind, nbytes)
        return token

    def change(self, kind: str, nbytes: int) -> None:
        """Count ``nbytes`` more (or fewer) under ``kind``."""
        held = self.held.get(kind, 0) + nbytes
        self.held[kind] = held
        self.total += nbytes
        if held > self.peaks.get(kind, 0):
            self.peaks[kind] = held
        if self.total > self.peak:
            self.peak, self.peak_time = self.total, self.clock()
            self.at_peak = dict(self.held)
        if self.points is not None:
            self.points.append((self.rank, self.clock(), kind, held))

    def table(self) -> str:
        """Who holds what now, largest first."""
        rows = sorted(((size, kind) for kind, size in self.held.items() if size), reverse=True)
        return "\n".join(f"  {kind:<12} {format_bytes(size):>10}" for size, kind in rows) or "  (nothing)"

    def _full(self, nbytes: int, kind: str) -> str:
        return (
            f"rank {self.rank} at {format_time(self.clock())}: no room for {format_bytes(nbytes)} of {kind}; "
            f"{format_bytes(self.total)} of {format_bytes(self.capacity)} are held:\n{self.table()}\n"
            "Use a smaller batch, activation checkpointing, or an accelerator with more memory."
        )


class Allocation:
    """Bytes that are held as long as this object lives."""

    __slots__ = ("_allocator", "_kind", "_nbytes")

    def __init__(self, allocator: Allocator, nbytes: int, kind: str) -> None:
        self._allocator, self._nbytes, self._kind = allocator, nbytes, kind

    def reclassify(self, kind: str) -> None:
        """Count the bytes under ``kind`` from now on."""
        if kind != self._kind:
            self._allocator.change(self._kind, -self._nbytes)
            self._allocator.change(kind, self._nbytes)
            self._kind = kind

    def __del__(self) -> None:
        self._allocator.change(self._kind, -self._nbytes)
