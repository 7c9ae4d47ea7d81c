"""What does a run need to know, whatever carries it?

``Settings`` is the part of ``sd.run``'s arguments that a backend gets; ``Outcome`` is what a backend gives back. A
backend is a function (program, settings) -> Outcome; ``backends.registry`` knows them by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simdist.cluster import Cluster

__all__ = ["MemoryUse", "Outcome", "Settings"]


@dataclass(frozen=True)
class Settings:
    """How to run a function (see ``sd.run`` for what each value means)."""

    world_size: int
    cluster: Cluster
    seed: int = 0
    device: str = "real"
    checked: bool = True
    traced: bool = True
    network: str = "messages"
    eager_limit: int = 0
    timeout: float | None = None
    stragglers: Mapping[int, float] = field(default_factory=dict)
    jitter: float = 0.0
    strict: bool = False
    shortcut: bool = True
    watchdog: float = 600.0


@dataclass(frozen=True)
class MemoryUse:
    """The memory of one rank's accelerator.

    Attributes:
        rank: whose.
        capacity: bytes that it has.
        peak: most bytes held at one time.
        peak_time: when that was, seconds.
        at_peak: memory class -> bytes held at that time.
        peaks: memory class -> the most that this class held at any time.
    """

    rank: int
    capacity: float
    peak: int
    peak_time: float
    at_peak: dict[str, int]
    peaks: dict[str, int]


@dataclass(frozen=True)
class Outcome:
    """What happened.

    Attributes:
        results: what each rank's function returned.
        time: seconds of the whole run, on the backend's clock.
        rank_times: when each rank returned, seconds.
        spans, flows, memory: rows for ``trace.Trace``.
        memory_use: one per rank (none on a real backend).
        notes: what a person should know about the run.
    """

    results: list[Any]
    time: float
    rank_times: list[float]
    spans: Sequence[Any]
    flows: Sequence[Any]
    memory: list[Any]
    memory_use: list[MemoryUse]
    notes: list[str]
