"""Which chain of work and messages determined the time of the run?

The walk goes backwards from the rank that finished last. Work was preceded by what the same rank did before. Waiting was not the
cause of anything: the walk goes over to the rank that was waited for. Communication could start when its last member came: the
walk follows it on its stream back to that time, and goes on with whoever came last.

Invariant: the steps follow each other without gap from 0 to the end of the run, so their durations sum to its time; making
anything that is not on the path faster does not make the run faster. Waiting is on the path only where the trace does not know
whom it was for. (The idea is the longest path through a graph of activities: Kelley & Walker, "Critical-path planning and
scheduling", 1959.)
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from simdist.trace.breakdown import PARTS, WAITING
from simdist.trace.span import MAIN
from simdist.trace.trace import NOTHING, Trace
from simdist.units import format_time

__all__ = ["CriticalPath", "Step", "critical_path"]

Key = tuple[int, str]
"""A rank and the name of one of its streams."""

ROUNDING = 1e-12
"""A wait's end is a sum of waits: it may differ from the time of the message that ended it by rounding."""

SHOWN_STEPS = 40
"""How many stretches the text lists; a longer path is shown by its longest ones."""


@dataclass(frozen=True)
class Step:
    """A stretch of one span that is on the path.

    Attributes:
        rank: whose.
        stream: on which stream of it.
        kind: the kind of the span.
        name: what it is.
        start: from when it is on the path, seconds.
        end: until when.
    """

    rank: int
    stream: str
    kind: str
    name: str
    start: float
    end: float

    @property
    def duration(self) -> float:
        """Seconds on the path."""
        return self.end - self.start


@dataclass(frozen=True)
class CriticalPath:
    """The steps from the start of the run to its end.

    Attributes:
        steps: in order of time, each begins where the one before it ends.
        end: seconds of the whole run.
    """

    steps: tuple[Step, ...]
    end: float

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    @cached_property
    def parts(self) -> dict[str, float]:
        """Seconds on the path by kind of span, in the order of the report."""
        sums = dict.fromkeys(PARTS, 0.0)
        for step in self.steps:
            sums[step.kind] += step.duration
        return {kind: seconds for kind, seconds in sums.items() if seconds}

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that the path visits, in order of time, each stay once."""
        return tuple(rank for rank, _ in groupby(step.rank for step in self.steps))

    def __str__(self) -> str:
        if not self.steps:
            return f"(no critical path: {NOTHING})"
        share = ", ".join(f"{PARTS[kind]} {seconds / self.end:.0%}" for kind, seconds in self.parts.items())
        stretches = [tuple(same) for _, same in groupby(self.steps, _stretch)]
        longest = sorted(stretches, key=lambda same: same[0].start - same[-1].end)[:SHOWN_STEPS]
        lines = [f"critical path: {format_time(self.end)} through {len(self.steps)} spans: {share}"]
        lines.append(f"{'from':>10} {'takes':>10} {'rank':>4} {'stream':8} what")
        for steps in sorted(longest, key=lambda same: same[0].start):
            first, takes = steps[0], steps[-1].end - steps[0].start
            began = f"{format_time(first.start):>10} {format_time(takes):>10}"
            lines.append(f"{began} {first.rank:>4} {first.stream:8} {_words(steps)}")
        if len(stretches) > SHOWN_STEPS:
            rest = self.end - sum(same[-1].end - same[0].start for same in longest)
            lines.append(f"and {len(stretches) - SHOWN_STEPS} shorter stretches, together {format_time(rest)}")
        return "\n".join(lines)


def _stretch(step: Step) -> tuple[int, str, str]:
    """What follows each other with an equal one of these is one line of the text: all work of a rank is alike."""
    return step.rank, step.stream, step.kind if step.kind in WAITING else "work"


def _words(steps: tuple[Step, ...]) -> str:
    sums: dict[str, float] = {}
    for step in steps:
        sums[step.kind] = sums.get(step.kind, 0.0) + step.duration
    if len(sums) > 1:
        return ", ".join(f"{kind} {format_time(sums[kind])}" for kind in sorted(sums, key=lambda k: (-sums[k], k)))
    others = len({step.name for step in steps}) - 1
    name = max(steps, key=lambda step: step.duration).name
    return f"{steps[0].kind}: {name}" + (f" and {others} other{'s' * (others > 1)}" if others else "")


def critical_path(trace: Trace) -> CriticalPath:
    """Walk back from the rank that finished last to the start of the run.

    Raises:
        TraceError: the run kept no trace.
    """
    trace.need("critical path")
    return CriticalPath(tuple(reversed(_Walk(trace).back())), trace.end)


class _Walk:
    """The way back: where it is (rank, stream, time) and the steps so far, the last one first."""

    def __init__(self, trace: Trace) -> None:
        self.rows: dict[Key, list[tuple[Any, ...]]] = {}
        for row in trace.span_rows:
            if row[5] > row[4]:
                self.rows.setdefault((row[0], row[1]), []).append(row)
        for rows in self.rows.values():
            rows.sort(key=lambda row: (row[5], row[4]))
        self.ends = {key: [row[5] for row in rows] for key, rows in self.rows.items()}
        self.beside: dict[int, list[Key]] = {}
        for key in self.rows:
            if key[1] != MAIN:
                self.beside.setdefault(key[0], []).append(key)
        self.arrivals: dict[int, list[tuple[float, int]]] = {}
        for row in trace.flow_rows:
            self.arrivals.setdefault(row[1], []).append((row[2], row[0]))
        for arrivals in self.arrivals.values():
            arrivals.sort()
        self.steps: list[Step] = []
        self.seen: dict[Key, float] = {}

    def back(self) -> list[Step]:
        """The steps from the end of the run to its start."""
        mains = [key for key in self.rows if key[1] == MAIN]
        last = [(self._finished(key), -key[0], key) for key in mains]
        if not last:
            return []
        time, _, key = max(last)
        while time > 0:
            row = self._covering(key, time)
            if row is None:
                if key[1] == MAIN:
                    break  # a trace cut at its start
                key = (key[0], MAIN)
            else:
                key, time = self._before(key, time, row)
        return self.steps

    def _finished(self, key: Key) -> float:
        return max((row[5] for row in reversed(self.rows[key]) if row[2] != "idle"), default=0.0)

    def _covering(self, key: Key, time: float) -> tuple[Any, ...] | None:
        """The span of a stream that ends at ``time`` or goes on over it, if there is one.

        The main stream has one at any time; at a seam that rounding has opened it is the one before.
        """
        rows = self.rows.get(key, [])
        place = bisect_left(self.ends.get(key, []), time)
        if place < len(rows) and rows[place][4] < time:
            return rows[place]
        return rows[place - 1] if key[1] == MAIN and place else None

    def _before(self, key: Key, time: float, row: tuple[Any, ...]) -> tuple[Key, float]:
        """Where the walk goes from a span that it has reached at ``time``."""
        rank, _, kind, name, start, _, details = row
        if kind == "wait":
            for cause in (details or {}).get("for", ()):
                if self._is_new((cause, MAIN), time):
                    return self._came(cause, time), time
            return self._unexplained(key, time, row)
        if kind == "communication" and key[1] == MAIN:
            for other in self.beside.get(rank, []):
                twin = self._covering(other, time)
                if twin is not None and twin[2] == kind and twin[3] == name and self._is_new(other, time):
                    return other, time
        self._step(row, start, time)
        return (key if key[1] == MAIN or self._ends_at(key, start) else (rank, MAIN)), start

    def _unexplained(self, key: Key, time: float, row: tuple[Any, ...]) -> tuple[Key, float]:
        """A wait without blame (a tree's): it ended with the last message posted in it, if the trace has messages."""
        rank, start = row[0], row[4]
        arrivals = self.arrivals.get(rank, [])
        place = bisect_right(arrivals, (time * (1 + ROUNDING), sys.maxsize)) - 1
        if place >= 0 and arrivals[place][0] > start:
            posted, source = min(arrivals[place][0], time), arrivals[place][1]
            if self._is_new((source, MAIN), posted):
                self._step(row, posted, time)
                return self._came(source, posted), posted
        self._step(row, start, time)
        return key, start

    def _came(self, rank: int, time: float) -> Key:
        """The stream on which ``rank`` came to a meeting at ``time``.

        The main one, unless the program was in the midst of something and another stream just then became free for it.
        """
        if not self._ends_at((rank, MAIN), time):
            for key in self.beside.get(rank, []):
                if self._ends_at(key, time):
                    return key
        return rank, MAIN

    def _ends_at(self, key: Key, time: float) -> bool:
        row = self._covering(key, time)
        return row is not None and bool(row[5] == time)

    def _step(self, row: tuple[Any, ...], start: float, end: float) -> None:
        if end > start:
            self.steps.append(Step(row[0], row[1], row[2], row[3], start, end))

    def _is_new(self, key: Key, time: float) -> bool:
        """Whether the walk has not stood there at this time yet: blame that goes in a circle explains nothing."""
        if self.seen.get(key) == time:
            return False
        self.seen[key] = time
        return True
