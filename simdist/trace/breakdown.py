"""Where did the time go?

The main spans of a rank tile its time, so the parts (one per kind of span) sum to the whole run: there is no
remainder. What communicates on the main stream is *exposed*; what a communication stream does while the main program
works is *hidden*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from simdist.trace.span import KINDS, MAIN
from simdist.trace.trace import NOTHING, Trace
from simdist.units import format_time

__all__ = ["PARTS", "Breakdown", "breakdown", "report_text"]

PARTS: dict[str, str] = {
    "forward": "forward pass",
    "backward": "backward pass",
    "optimizer": "optimizer",
    "compute": "computing",
    "launch": "launch of primitives",
    "communication": "exposed communication",
    "wait": "waiting for other ranks",
    "sleep": "sleeping",
    "idle": "done before the others",
}
"""The kinds of main spans in the order of the report, and what a person reads."""

WAITING = ("communication", "wait", "sleep", "idle")
"""Kinds in which the main program does no work."""


@dataclass(frozen=True)
class Breakdown:
    """The parts of each rank's time.

    Attributes:
        parts: for each rank: kind of span -> seconds; they sum to ``end``.
        hidden: for each rank: seconds of communication that ran beside work.
        communication: for each rank: seconds in which its communication streams moved bytes.
        end: seconds of the whole run.
    """

    parts: tuple[Mapping[str, float], ...]
    hidden: tuple[float, ...]
    communication: tuple[float, ...]
    end: float

    @cached_property
    def mean(self) -> dict[str, float]:
        """The parts averaged over ranks."""
        return {kind: sum(rank.get(kind, 0.0) for rank in self.parts) / max(1, len(self.parts)) for kind in PARTS}

    @property
    def overlap(self) -> float:
        """The share of all communication that was hidden behind work (0 where there was none)."""
        total = sum(self.communication)
        return sum(self.hidden) / total if total else 0.0

    def __str__(self) -> str:
        return _table(self) if any(self.parts) else f"({NOTHING})"


def breakdown(trace: Trace) -> Breakdown:
    """Sum the main spans by kind, and look what ran beside them.

    Raises:
        TraceError: the run kept no trace.
    """
    trace.need("breakdown")
    parts: list[dict[str, float]] = [{} for _ in range(trace.world_size)]
    work: list[list[tuple[float, float]]] = [[] for _ in range(trace.world_size)]
    moving: list[list[tuple[float, float]]] = [[] for _ in range(trace.world_size)]
    covered = [0.0] * trace.world_size
    for rank, stream, kind, _, start, end, _ in sorted(trace.span_rows, key=lambda row: (row[0], row[4], row[5])):
        assert kind in KINDS, f"a span of the unknown kind {kind!r}"
        if stream != MAIN:
            if kind == "communication":
                moving[rank].append((start, end))
            continue
        gap = start - covered[rank]
        assert abs(gap) <= 1e-12 * max(trace.end, start), (
            f"rank {rank}: {gap} s of the main stream are not accounted for"
        )
        covered[rank] = end
        parts[rank][kind] = parts[rank].get(kind, 0.0) + (end - start)
        if kind not in WAITING:
            work[rank].append((start, end))
    hidden = tuple(_overlap(w, m) for w, m in zip(work, moving, strict=True))
    busy = tuple(_overlap(m, m) for m in moving)
    return Breakdown(tuple(parts), hidden, busy, trace.end)


def _merge(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _overlap(a: list[tuple[float, float]], b: list[tuple[float, float]]) -> float:
    """Seconds that lie in a span of ``a`` and in one of ``b``."""
    a, b = _merge(a), _merge(b)
    i = j = 0
    total = 0.0
    while i < len(a) and j < len(b):
        total += max(0.0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def _table(found: Breakdown) -> str:
    rows = [(PARTS[kind], found.mean[kind], [r.get(kind, 0.0) for r in found.parts]) for kind in PARTS]
    lines = [f"{'':26} {'mean':>10} {'share':>7} {'least':>10} {'most':>10}"]
    for name, mean, each in rows:
        if any(each):
            share = mean / found.end if found.end else 0.0
            lines.append(
                f"{name:26} {format_time(mean):>10} {share:>7.1%} {format_time(min(each)):>10} {format_time(max(each)):>10}"
            )
    total = sum(found.mean.values())
    lines.append(f"{'sum':26} {format_time(total):>10} {total / found.end if found.end else 0.0:>7.1%}")
    if any(found.communication):
        moved = sum(found.communication) / len(found.communication)
        lines.append(f"communication {format_time(moved)} per rank, of which {found.overlap:.0%} hidden behind work")
    return "\n".join(lines)


def report_text(trace: Trace) -> str:
    """The breakdown as a table: mean over ranks, its share of the run, and the extreme ranks; or why there is none."""
    return f"({trace.lesson})" if trace.lesson else _table(breakdown(trace))
