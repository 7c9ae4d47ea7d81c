"""What happened in a run?

A trace is three lists of rows (spans, messages, memory points; see ``trace.span``) and a few words about the run. It
keeps the rows as they were recorded and gives NamedTuples when it is asked. Everything else (breakdown, critical
path, pictures, files) is computed from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simdist.errors import TraceError
from simdist.trace.rows import Rows
from simdist.trace.span import MAIN, Flow, MemoryPoint, Span

__all__ = ["NOTHING", "UNTRACED", "Trace"]

UNTRACED = "the run kept no trace (traced=False): run it again with traced=True, which is the default of sd.run"
"""Why nothing is known about a run that was not traced."""

NOTHING = (
    "the run did nothing that takes time: no rank computed with tensors, communicated or slept. Charge work by hand with "
    "sd.compute(seconds=...)"
)
"""Why there is nothing to see in a run that was traced."""


def _kept(rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    """The rows as a list of the trace's own; packed ones stay packed."""
    return rows if isinstance(rows, Rows) else list(rows)


class Trace:
    """The rows of one run.

    Args:
        spans: rows of ``Span``.
        flows: rows of ``Flow``.
        memory: rows of ``MemoryPoint``.
        world_size: number of ranks.
        end: when the run ended, seconds.
        meta: words and numbers about the run (name, backend, cluster, seed ...).
        is_kept: whether the run recorded what happened (not with ``traced=False``).
    """

    is_kept = True

    def __init__(
        self,
        spans: Sequence[tuple[Any, ...]],
        flows: Sequence[tuple[Any, ...]] = (),
        memory: Sequence[tuple[Any, ...]] = (),
        *,
        world_size: int,
        end: float,
        meta: Mapping[str, str | int | float] | None = None,
        is_kept: bool = True,
    ) -> None:
        self.span_rows, self.flow_rows, self.memory_rows = _kept(spans), _kept(flows), _kept(memory)
        self.world_size, self.end, self.meta = world_size, end, dict(meta or {})
        self.is_kept = is_kept

    def __iter__(self) -> Iterator[Span]:
        return map(Span._make, self.span_rows)

    def __len__(self) -> int:
        return len(self.span_rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return self.digest() == other.digest()

    __hash__ = None  # type: ignore[assignment]  # a trace is a container

    def __repr__(self) -> str:
        return (
            f"Trace({len(self.span_rows)} spans, {len(self.flow_rows)} messages, {self.world_size} ranks, "
            f"end={self.end!r})"
        )

    @property
    def lesson(self) -> str:
        """Why there are no spans; empty if there are some."""
        return "" if self.span_rows else NOTHING if self.is_kept else UNTRACED

    def need(self, what: str) -> None:
        """See that the run was traced.

        Args:
            what: what it is needed for: ``"timeline"``.

        Raises:
            TraceError: the run kept no trace.
        """
        if not self.is_kept:
            raise TraceError(f"there is no {what}: {UNTRACED}.")

    def spans(self, *, rank: int | None = None, stream: str | None = None, kind: str | None = None) -> list[Span]:
        """The spans of a rank, a stream, a kind (None: any), in order of time."""
        found = [
            Span._make(row)
            for row in self.span_rows
            if (rank is None or row[0] == rank)
            and (stream is None or row[1] == stream)
            and (kind is None or row[2] == kind)
        ]
        return sorted(found, key=lambda span: (span.start, span.end, span.rank, span.stream))

    def main_spans(self, rank: int) -> list[Span]:
        """What the rank's main program did, in order: it tiles the time from 0 to the end."""
        return self.spans(rank=rank, stream=MAIN)

    def streams(self, rank: int) -> list[str]:
        """The names of the rank's streams, the main one first."""
        names = dict.fromkeys(row[1] for row in self.span_rows if row[0] == rank)
        return sorted(names, key=lambda name: (name != MAIN, name))

    def flows(self, *, src: int | None = None, dst: int | None = None) -> list[Flow]:
        """The messages from ``src`` to ``dst`` (None: any), in order of time."""
        found = [
            Flow._make(row)
            for row in self.flow_rows
            if (src is None or row[0] == src) and (dst is None or row[1] == dst)
        ]
        return sorted(found, key=lambda flow: (flow.start, flow.end, flow.src, flow.dst))

    def memory(self, rank: int) -> list[MemoryPoint]:
        """The memory points of a rank, in the order in which they were recorded."""
        return [MemoryPoint._make(row) for row in self.memory_rows if row[0] == rank]

    def bytes_sent(self, rank: int) -> int:
        """Bytes that the rank sent to others."""
        return sum(row[5] for row in self.flow_rows if row[0] == rank)

    def messages_sent(self, rank: int) -> int:
        """Number of messages that the rank sent to others."""
        return sum(row[0] == rank for row in self.flow_rows)

    def digest(self) -> str:
        """A fingerprint of everything in it: equal traces have equal ones, on every machine and hash seed."""
        hasher = hashlib.sha256(f"{self.world_size} {self.end!r} {sorted(self.meta.items())!r}".encode())
        for rows in (self.span_rows, self.flow_rows, self.memory_rows):
            for text in sorted(map(repr, rows)):
                hasher.update(text.encode())
            hasher.update(b"/")
        return hasher.hexdigest()
