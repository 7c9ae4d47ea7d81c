"""Where does one training step end and the next begin?

A step ends with an optimizer's updates: a run of ``optimizer`` spans on the main stream (the launches between them
belong to it). Step 0 begins with the run; what comes after the last update (an evaluation, say) belongs to no step.
Ranks end a step at their own times, so a step is one window for each rank.
"""

from __future__ import annotations

from typing import Any

from simdist.trace.span import MAIN
from simdist.trace.trace import Trace

__all__ = ["count", "cut", "ends"]


def ends(trace: Trace, rank: int) -> list[float]:
    """When each of the rank's steps ended, seconds."""
    return _ends_of_all(trace)[rank]


def _ends_of_all(trace: Trace) -> list[list[float]]:
    """The ends of every rank's steps, from one look at all rows."""
    programs: list[list[tuple[float, float, str]]] = [[] for _ in range(trace.world_size)]
    for rank, stream, kind, _, start, end, _ in trace.span_rows:
        if stream == MAIN:
            programs[rank].append((start, end, kind))
    return [_ends(sorted(program, key=lambda part: part[:2])) for program in programs]


def _ends(program: list[tuple[float, float, str]]) -> list[float]:
    found: list[float] = []
    updating = False
    for _, end, kind in program:
        if kind == "optimizer":
            if updating:
                found[-1] = end
            else:
                found.append(end)
            updating = True
        elif kind != "launch":
            updating = False
    return found


def count(trace: Trace) -> int:
    """The number of steps that every rank has done."""
    return min(map(len, _ends_of_all(trace)), default=0)


def cut(trace: Trace, step: int) -> Trace:
    """The spans of one step; each rank's time is counted from the beginning of its own step.

    Args:
        trace: the whole run.
        step: 0 for the first; negative ones count from the end.

    Raises:
        TraceError: the run kept no trace.
        IndexError: there is no such step.
    """
    trace.need("step to look at")
    found = _ends_of_all(trace)
    number = min(map(len, found), default=0)
    if not -number <= step < number:
        raise IndexError(
            f"there is no step {step}: the run has {number} steps (a step ends with an optimizer's updates)."
        )
    step %= number
    windows = [([0.0, *own][step], own[step]) for own in found]
    rows: list[tuple[Any, ...]] = []
    for row in trace.span_rows:
        start, end = windows[row[0]]
        if row[5] > start and row[4] < end:
            rows.append((*row[:4], max(row[4], start) - start, min(row[5], end) - start, row[6]))
    longest = max(end - start for start, end in windows)
    return Trace(rows, world_size=trace.world_size, end=longest, meta=trace.meta)
