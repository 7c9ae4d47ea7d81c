"""What is one thing that happened?

A trace is three lists of plain tuples, because recording is on the simulator's hot path (a tuple appended to a list costs
about a seventh of a simulated event; an object costs a half). The tuples have the field order of the NamedTuples below, and
reading a trace gives those.

* **Span**: one rank's stream was busy (or waited) from ``start`` to ``end``.
* **Flow**: one message went from ``src`` to ``dst``.
* **MemoryPoint**: one rank's memory of one class changed to ``nbytes`` at ``time``.

Invariant that the report relies on: the spans of a rank's ``"main"`` stream tile the time from 0 to the rank's end without
gap or overlap (a wait is a span too). Other streams (``"comm:0"``: one per process group) may overlap it freely.

All times are seconds, all sizes bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["KINDS", "MAIN", "Flow", "MemoryPoint", "Span"]

MAIN = "main"
"""The name of the stream on which a rank computes and blocks."""

KINDS: dict[str, str] = {
    "forward": "a primitive of the forward pass",
    "backward": "a primitive of the backward pass",
    "optimizer": "an optimizer's update",
    "compute": "work charged by hand (sd.compute) or outside any pass; on real processes all work",
    "launch": "the fixed cost of starting a primitive on the accelerator",
    "communication": "bytes moving: a collective or a message; on the main stream it is exposed, not hidden behind work",
    "wait": "blocked until another rank gets there (a straggler, a partner that has not called yet)",
    "sleep": "sd.sleep, or waiting for something that is no rank",
    "idle": "the rank has returned and the run goes on without it",
}
"""Every kind a span may have, and what it means. The report has one line for each that occurs on a main stream."""


class Span(NamedTuple):
    """One stretch of one stream of one rank."""

    rank: int
    stream: str
    kind: str
    name: str
    start: float
    end: float
    details: dict[str, Any] | None = None

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return self.end - self.start


class Flow(NamedTuple):
    """One message: posted by both sides at ``posted``, on the wire from ``start`` to ``end``."""

    src: int
    dst: int
    posted: float
    start: float
    end: float
    nbytes: int
    label: str


class MemoryPoint(NamedTuple):
    """From ``time`` on, ``rank`` holds ``nbytes`` of memory class ``kind``."""

    rank: int
    time: float
    kind: str
    nbytes: int
