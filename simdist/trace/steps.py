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
    found: list[float] = []
    updating = False
    rows = (row for row in trace.span_rows if row[0] == rank and row[1] == MAIN)
    for row in sorted(rows, key=lambda row: (row[4], row[5])):
        if row[2] == "optimizer":
            if updating:
                found[-1] = row[5]
            else:
                found.append(row[5])
            updating = True
        elif row[2] != "launch":
            updating = False
    return found


def count(trace: Trace) -> int:
    """The number of steps that every rank has done."""
    return min((len(ends(trace, rank)) for rank in range(trace.world_size)), default=0)


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
    number = count(trace)
    if not -number <= step < number:
        raise IndexError(
            f"there is no step {step}: the run has {number} steps (a step ends with an optimizer's updates)."
        )
    step %= number
    rows: list[tuple[Any, ...]] = []
    longest = 0.0
    for rank in range(trace.world_size):
        found = ends(trace, rank)
        start, end = ([0.0, *found][step], found[step])
        longest = max(longest, end - start)
        for row in trace.span_rows:
            if row[0] == rank and row[5] > start and row[4] < end:
                rows.append((*row[:4], max(row[4], start) - start, min(row[5], end) - start, row[6]))
    return Trace(rows, world_size=trace.world_size, end=longest, meta=trace.meta)
