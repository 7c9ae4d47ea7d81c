"""What does a rank say about a collective that it enters?

At which place in the order of the group's collectives it is, what it calls, and the user's line. All ranks of the group must
say the same at one place; where they do not, every backend tells it in the sentence of this module, with both lines.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from simdist import place
from simdist.units import format_time

from .call import Call

__all__ = ["LESSON", "Entry", "blocks_differ", "mismatch"]

LESSON = "Every rank of a group must make the same calls in the same order, with equal shapes and dtypes."

_WHICH = re.compile(r"""(collective \d+ of group (?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")): (.*)""")
_LONGEST = 2000  # bytes of a note


class Entry(NamedTuple):
    """One rank's words about one collective.

    Attributes:
        rank: global rank.
        which: ``"collective 3 of group 'world'"``.
        what: ``"all_reduce of (4,) float32, SUM"``.
        where: ``"train.py:31"``.
    """

    rank: int
    which: str
    what: str
    where: str

    @classmethod
    def of(cls, call: Call) -> Entry:
        """What the rank that makes ``call`` says."""
        members = call.members
        which = f"collective {call.sequence} of group {members.name!r}"
        return cls(members.ranks[members.rank], which, call.request.describe(), place.text(call.where))

    def pack(self) -> bytes:
        """As the note of a message: the first line is what must be equal on both sides."""
        return f"{self.which}: {self.what}\n{self.where}".encode()[:_LONGEST]

    @classmethod
    def unpack(cls, rank: int, note: bytes) -> Entry | None:
        """What ``rank`` says in a note, or None if the note is something else."""
        line, _, where = note.decode("utf-8", "replace").partition("\n")
        found = _WHICH.fullmatch(line)
        return None if found is None else cls(rank, found[1], found[2], where or place.text(None))

    def is_like(self, other: Entry) -> bool:
        """Whether both ranks are at the same call."""
        return self[1:3] == other[1:3]


def mismatch(now: float, mine: Entry, theirs: Entry) -> str:
    """What every rank is told when two of them differ at one place in the order.

    Args:
        now: when it was noticed, seconds of the backend's clock.
        mine: what one of them says.
        theirs: what the other one says.
    """
    return (
        f"rank {mine.rank} at {format_time(now)}: {mine.which} is {mine.what} ({mine.where}), but rank {theirs.rank} called "
        f"{theirs.what} ({theirs.where}). {LESSON}"
    )


def blocks_differ(now: float, source: Entry, to: Entry, sent: int, expected: int) -> str:
    """What every rank is told when two of them do not agree on the size of the block from one to the other.

    Args:
        now: when it was noticed, seconds of the backend's clock.
        source: what the sender of the block says.
        to: what its receiver says.
        sent: elements in the block.
        expected: elements for which the receiver has room.
    """
    s, d = source.rank, to.rank
    return (
        f"rank {d} at {format_time(now)}: {to.which} is {to.what}: {s}->{d}: sent {sent}, expected {expected} elements "
        f"(rank {s}: {source.where}, rank {d}: {to.where}). The output split that rank {d} gives for rank {s} must be the input "
        f"split that rank {s} gives for rank {d}."
    )
