"""What is everybody doing at one moment?

``at(trace, t)`` gives a row for every rank and stream, and the times of the neighbouring events, so that a person can step
through a run: ``moment = run.at(moment.next)``. A span covers its start and not its end (at the very end of a run: the span that
ends there). Who waits names whom to blame; who is blamed may wait too, and ``culprit`` follows that chain to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simdist.trace.span import MAIN, Flow
from simdist.trace.trace import NOTHING, Trace
from simdist.units import format_bytes, ms, us

__all__ = ["Activity", "Moment", "at"]

QUIET = "quiet"
"""The kind of a stream that has nothing to do; only streams beside the main one can be quiet."""

SHOWN_MESSAGES = 8
"""How many of the messages on the wire the text lists."""


@dataclass(frozen=True)
class Activity:
    """What one stream of one rank does at the moment.

    Attributes:
        rank: whose.
        stream: ``"main"`` or a communication stream.
        kind: the kind of the span, or ``"quiet"``.
        name: what it is.
        since: when it began, seconds.
        until: when it will end, seconds.
        waits_for: the operation that it waits for ("" if it does not wait).
        blame: the ranks that have not come yet, as far as the trace knows.
    """

    rank: int
    stream: str
    kind: str
    name: str
    since: float
    until: float
    waits_for: str = ""
    blame: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.kind == QUIET:
            return "-"
        if self.kind != "wait":
            return f"{self.kind}: {self.name}"
        who = f"rank {', '.join(map(str, self.blame))}: " if self.blame else ""
        return f"waits for {who}{self.waits_for}"


@dataclass(frozen=True)
class Moment:
    """What every rank and stream does at one time.

    Attributes:
        time: the moment, seconds.
        activities: a row for every rank and stream, by rank, the main stream first.
        messages: what is on the wire.
        previous: the last time before this one at which something began or ended (None: there is none).
        next: the first time after it (None: there is none).
        end: when the run ended.
    """

    time: float
    activities: tuple[Activity, ...]
    messages: tuple[Flow, ...]
    previous: float | None
    next: float | None
    end: float

    def __iter__(self) -> Iterator[Activity]:
        return iter(self.activities)

    def __len__(self) -> int:
        return len(self.activities)

    def of(self, rank: int, stream: str = MAIN) -> Activity:
        """The row of one stream of one rank.

        Raises:
            KeyError: the trace has no such stream.
        """
        for activity in self.activities:
            if (activity.rank, activity.stream) == (rank, stream):
                return activity
        raise KeyError(f"no row for rank {rank}, stream {stream!r}: there are {_known(self.activities)}")

    def culprit(self, rank: int) -> int:
        """The rank for which ``rank`` waits in the end: the first in the chain of blame that is not waiting itself.

        A rank that does not wait, or of whose waiting the trace knows no cause, is its own culprit.
        """
        mains = {activity.rank: activity for activity in self.activities if activity.stream == MAIN}
        seen = {rank}
        while (activity := mains.get(rank)) is not None and activity.blame:
            rank = min(activity.blame)
            if rank in seen:
                break
            seen.add(rank)
        return rank

    def __str__(self) -> str:
        if not self.activities:
            return f"({NOTHING})"
        lines = [f"at {_clock(self.time, self.end)} of {_clock(self.end, self.end)}"]
        lines.append(f"{'rank':>4} {'stream':8} {'since':>14} {'until':>14}  does")
        for row in self.activities:
            text = str(row)
            culprit = self.culprit(row.rank) if row.blame else None
            if culprit is not None and culprit not in row.blame and culprit != row.rank:
                text += f", in the end for rank {culprit}"
            since, until = _clock(row.since, self.end), _clock(row.until, self.end)
            lines.append(f"{row.rank:>4} {row.stream:8} {since:>14} {until:>14}  {text}")
        lines += [
            f"on the wire: {flow.label}, {format_bytes(flow.nbytes)} from rank {flow.src} to rank {flow.dst}"
            for flow in self.messages[:SHOWN_MESSAGES]
        ]
        if len(self.messages) > SHOWN_MESSAGES:
            lines.append(f"on the wire: {len(self.messages) - SHOWN_MESSAGES} more messages")
        before, after = (("-" if t is None else _clock(t, self.end)) for t in (self.previous, self.next))
        lines.append(f"previous event {before}, next event {after}")
        return "\n".join(lines)


def at(trace: Trace, t: float) -> Moment:
    """What every rank and stream is doing at time ``t``.

    Args:
        trace: what happened.
        t: seconds from the start of the run.

    Raises:
        TraceError: the run kept no trace.
        ValueError: ``t`` is outside the run.
    """
    trace.need("answer")
    if not 0 <= t <= trace.end:
        asked, end = _clock(t, trace.end), _clock(trace.end, trace.end)
        if asked == end:  # they differ by less than is shown
            asked, end = f"{t!r} s", f"{trace.end!r} s"
        raise ValueError(f"at {asked} nothing happened: the run goes from 0 to {end}. Times are in seconds.")
    found: dict[tuple[int, str], tuple[Any, ...] | None] = {}
    gaps: dict[tuple[int, str], tuple[float, float]] = {}
    previous, following = -1.0, float("inf")
    for row in trace.span_rows:
        key, start, end = (row[0], row[1]), row[4], row[5]
        if start <= t < end or (t == end == trace.end and start < t):
            found[key] = row
        since, until = gaps.get(key, (0.0, trace.end))
        gaps[key] = (max(since, end) if end <= t else since, min(until, start) if start > t else until)
        for event in (start, end):
            if previous < event < t:
                previous = event
            elif t < event < following:
                following = event
    keys = sorted(gaps, key=lambda key: (key[0], key[1] != MAIN, key[1]))
    flows = [flow for flow in trace.flows() if flow.end > t]
    return Moment(
        time=t,
        activities=tuple(_activity(key, found.get(key), gaps[key], t, flows) for key in keys),
        messages=tuple(flow for flow in flows if flow.start <= t < flow.end),
        previous=previous if previous >= 0 else None,
        next=following if following <= trace.end else None,
        end=trace.end,
    )


def _activity(
    key: tuple[int, str], row: tuple[Any, ...] | None, gap: tuple[float, float], t: float, flows: list[Flow]
) -> Activity:
    rank, stream = key
    if row is None:
        return Activity(rank, stream, QUIET, "", *gap)
    kind, name, start, end = row[2:6]
    details = row[6] or {}
    if kind != "wait":
        return Activity(rank, stream, kind, name, start, end)
    operation = details.get("op", name)
    blame = details.get("for") or _partner(rank, operation, t, flows)
    return Activity(rank, stream, kind, name, start, end, operation, tuple(blame))


def _partner(rank: int, operation: str, t: float, flows: list[Flow]) -> list[int]:
    """The other side of the next message of this operation that has not been posted at ``t``.

    In an algorithm along a tree nobody waits for the last of all: each rank waits for its own neighbour to post.
    """
    mine = [f for f in flows if rank in (f.src, f.dst) and f.label.startswith(f"{operation} ") and f.posted > t]
    if not mine:
        return []
    first = min(mine, key=lambda flow: (flow.posted, flow.src, flow.dst))
    return [first.src if first.dst == rank else first.dst]


def _clock(seconds: float, end: float) -> str:
    """A time as a clock shows it: in the unit that fits the whole run, to a ten-thousandth of it."""
    unit, name = next(((unit, name) for unit, name in ((1.0, "s"), (ms, "ms")) if end >= unit), (us, "us"))
    return f"{seconds / unit:.4f} {name}"


def _known(activities: tuple[Activity, ...]) -> str:
    return ", ".join(f"rank {a.rank} {a.stream!r}" for a in activities[:8]) or "none"
