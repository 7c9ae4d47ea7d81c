"""What does a trace tell of a collective?

A member of a group waits until the last one has come, then bytes move. Both are spans, on the rank's main stream and
on its group's. A collective that took the short cut is kept in one piece, a row for all members; the spans are
written out when somebody reads them. It keeps the request and the clocks, and no buffer of the user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from simdist.comm.call import Request
from simdist.trace.span import MAIN

__all__ = ["Attendance", "Words", "spans"]


class Words(NamedTuple):
    """What all spans of one collective say.

    Attributes:
        label: its short name.
        blame: the details of the waiting: the operation, and who came last, if that is certain.
        details: the details of the communication.
    """

    label: str
    blame: dict[str, Any]
    details: dict[str, Any]

    @classmethod
    def of(cls, request: Request, sequence: int, starts: Sequence[float], last: float) -> Words:
        """The words about collective ``sequence``, whose members entered at ``starts``, the last one at ``last``."""
        members, label = request.members, request.label(sequence)
        blame: dict[str, Any] = {"op": label, "group": members.name}
        if request.algorithm.symmetric:
            blame["for"] = [members.ranks[starts.index(last)]]
        return cls(label, blame, request.details(sequence))


def spans(words: Words, rank: int, stream: str, entered: float, ready: float, end: float) -> Iterator[tuple[Any, ...]]:
    """The rows of one member on one of its streams: waiting for others until ``ready``, then communication."""
    if ready > entered:
        yield (rank, stream, "wait", words.label, entered, ready, words.blame)
    if end > ready:
        yield (rank, stream, "communication", words.label, ready, end, words.details)


class Attendance(NamedTuple):
    """A collective of a symmetric algorithm in which all members blocked: when each entered and when each was done."""

    request: Request
    sequence: int
    starts: tuple[float, ...]
    ends: tuple[float, ...]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of ``trace.Span``."""
        last, members = max(self.starts), self.request.members
        words = Words.of(self.request, self.sequence, self.starts, last)
        for rank, entered, end in zip(members.ranks, self.starts, self.ends, strict=True):
            yield from spans(words, rank, MAIN, entered, last, end)
            yield from spans(words, rank, f"comm:{members.id}", entered, last, end)
