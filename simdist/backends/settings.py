"""What does a run need to know, whatever carries it?

``Settings`` is the part of ``sd.run``'s arguments that a backend gets; ``Outcome`` is what a backend gives back. A
backend is a function (program, settings) -> Outcome; ``backends.registry`` knows them by name.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simdist.cluster import Cluster
from simdist.comm.choose import Overrides

__all__ = ["MOST_RANKS_BY_MESSAGE", "MemoryUse", "Outcome", "Settings", "level_for", "seconds", "whole"]

MOST_RANKS_BY_MESSAGE = 64
"""A larger run that does not say otherwise has its collectives timed as flows, not message by message."""


def level_for(world_size: int) -> str:
    """The level of network simulation of a run that names none."""
    return "messages" if world_size <= MOST_RANKS_BY_MESSAGE else "coflow"


def whole(name: str, value: Any, least: int | None = None) -> int:
    """``value`` as a Python int.

    Args:
        name: of the argument, for the text.
        value: an int, or anything that is one (numpy's integers); no bool.
        least: the smallest allowed value, or None.

    Raises:
        ValueError: anything else.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool | np.bool_) or (least is not None and number < least):
        bound = "" if least is None else f" of at least {least}"
        raise ValueError(f"{name} must be a whole number{bound}, got {value!r}.")
    return number


def seconds(name: str, value: Any, *, zero: bool = False) -> float:
    """``value`` as a finite number above 0 (or from 0 on, with ``zero``).

    Args:
        name: of the argument, for the text.
        value: any real number; no bool.
        zero: whether 0 is allowed.

    Raises:
        ValueError: anything else.
    """
    number = not isinstance(value, bool | np.bool_) and isinstance(value, numbers.Real)
    if not number or not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise ValueError(f"{name} must be a finite number {'of at least' if zero else 'above'} 0, got {value!r}.")
    return float(value)


@dataclass(frozen=True)
class Settings:
    """How to run a function (see ``sd.run`` for what each value means).

    Raises:
        ValueError: a value that means nothing; names it.
    """

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
    native_collectives: bool = False
    algorithms: Overrides = field(default_factory=dict)

    def __post_init__(self) -> None:
        clean = {
            "world_size": whole("world_size", self.world_size, 1),
            "seed": whole("seed", self.seed),
            "eager_limit": whole("eager_limit", self.eager_limit, 0),
            "timeout": self.timeout if self.timeout is None else seconds("timeout", self.timeout),
            "watchdog": seconds("watchdog", self.watchdog),
            "jitter": seconds("jitter", self.jitter, zero=True),
            "stragglers": {
                whole("a rank in stragglers", rank, 0): seconds(f"stragglers[{rank}]", factor)
                for rank, factor in self.stragglers.items()
            },
        }
        for name, value in clean.items():
            object.__setattr__(self, name, value)
        for rank in self.stragglers:
            if rank >= self.world_size:
                raise ValueError(f"stragglers names rank {rank}, but the ranks are 0..{self.world_size - 1}.")


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
