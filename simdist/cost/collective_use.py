"""How fast was each collective?

From the spans of a trace: a collective lasts from the entry of its last member until the last one is done, so a straggler's
delay is not held against the network. That time and the bytes give algorithm and bus bandwidth as nccl-tests defines them
(``cost.bandwidth``).

``rate`` writes both into the details of a run's communication spans before anybody reads them; ``collective_use`` adds up
the collectives of a trace, for the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from simdist.trace.rows import Row, Rows
from simdist.trace.span import MAIN
from simdist.trace.trace import Trace
from simdist.units import format_bytes, format_rate, format_time

from .bandwidth import bandwidths

__all__ = ["CollectiveUse", "collective_use", "rate", "rated", "table_text"]


class CollectiveUse(NamedTuple):
    """All collectives of one name in groups of one size.

    Attributes:
        collective: torch's name: ``"all_reduce"``.
        size: number of ranks in the group.
        num_calls: how many there were.
        nbytes: bytes of all together, each counted as nccl-tests does (the whole buffer, once); where blocks differ in size,
            as one of the members tells it.
        seconds: how long all took together.
        algbw: bytes over seconds; None if it took no time.
        busbw: algbw times the factor of the collective, to compare with a link; None where nccl-tests defines none.
    """

    collective: str
    size: int
    num_calls: int
    nbytes: int
    seconds: float
    algbw: float | None
    busbw: float | None


class _Call:
    """One collective, as its members' spans tell of it."""

    __slots__ = ("details", "end", "entered", "members", "nbytes")

    def __init__(self) -> None:
        self.entered: dict[int, float] = {}
        self.end = float("-inf")
        self.nbytes = 0
        self.details: dict[int, dict[str, Any]] = {}

    @property
    def seconds(self) -> float:
        """From the last entry to the last end."""
        return max(0.0, self.end - max(self.entered.values()))

    @property
    def told(self) -> dict[str, Any]:
        """What one of the members says."""
        return next(iter(self.details.values()))

    def bandwidths(self) -> dict[str, float]:
        """Both bandwidths, as far as they are defined."""
        return bandwidths(str(self.told["collective"]), int(self.told["size"]), self.nbytes, self.seconds)


def _calls(rows: Iterable[Row]) -> list[_Call]:
    """The collectives of a trace, in order of appearance: a stream of a group, and a name with its number."""
    found: dict[tuple[str, str], _Call] = {}
    for rank, stream, kind, name, start, end, details in rows:
        if stream == MAIN or details is None:
            continue
        call = found.get((stream, name))
        if call is None:
            call = found[stream, name] = _Call()
        if start < call.entered.get(rank, float("inf")):
            call.entered[rank] = start
        if kind == "communication" and "collective" in details:
            call.end = max(call.end, end)
            call.nbytes = max(call.nbytes, details["bytes"])
            call.details[id(details)] = details
    return [call for call in found.values() if call.details]


def rate(rows: Iterable[Row]) -> None:
    """Write ``algbw`` and ``busbw``, bytes per second, into the details of collectives.

    Args:
        rows: of ``trace.Span``, those of all members.
    """
    for call in _calls(rows):
        found = call.bandwidths()
        for details in call.details.values():
            details.update(found)


class _Unrated(NamedTuple):
    """Spans that are rated when they are read."""

    spans: Sequence[Row]

    def rows(self) -> Iterator[Row]:
        """The rows, rated."""
        rate(self.spans)
        return iter(self.spans)


def rated(spans: Sequence[Row]) -> Rows:
    """The same rows in the same order, rated when somebody reads them and not before."""
    return Rows([_Unrated(spans)], key=_as_they_are)


def _as_they_are(row: Row) -> int:
    return 0


def collective_use(trace: Trace) -> list[CollectiveUse]:
    """The collectives of a trace by name and size of group, in order of appearance.

    Args:
        trace: of a run.
    """
    found: dict[tuple[str, int], list[_Call]] = {}
    for call in _calls(trace.span_rows):
        found.setdefault((str(call.told["collective"]), int(call.told["size"])), []).append(call)
    table = []
    for (collective, size), calls in found.items():
        nbytes, seconds = sum(call.nbytes for call in calls), sum(call.seconds for call in calls)
        both = bandwidths(collective, size, nbytes, seconds)
        table.append(CollectiveUse(collective, size, len(calls), nbytes, seconds, both.get("algbw"), both.get("busbw")))
    return table


def table_text(rows: Sequence[CollectiveUse]) -> str:
    """The table of a report, with a head; for a person."""
    lines = [f"{'collectives':26} {'calls':>6} {'ranks':>6} {'bytes':>10} {'time':>10} {'algbw':>10} {'busbw':>10}"]
    for row in rows:
        both = ["-" if rate is None else format_rate(rate) for rate in (row.algbw, row.busbw)]
        lines.append(
            f"{row.collective:26} {row.num_calls:>6} {row.size:>6} {format_bytes(row.nbytes):>10} "
            f"{format_time(row.seconds):>10} {both[0]:>10} {both[1]:>10}"
        )
    return "\n".join(lines)
