"""What if a message and the receive that matches it do not fit?

Both sides then fail with the same text: a message is never cut short, stretched, or read as something it is not. Three things
are compared, in this order: the notes (what each side thinks it is doing), whether there is data at all, the sizes. Of a note
only the first line is compared; a second one may say where in the program it was made, and is told. The note of a user's
own message is its `Envelope`.
"""

from __future__ import annotations

from typing import NamedTuple

from simdist.comm.envelope import Envelope, misfit
from simdist.comm.transport import Tag
from simdist.errors import MessageMismatchError

__all__ = ["MessageMismatchError", "Side", "refusal", "refused_late", "told"]


class Side(NamedTuple):
    """What one side said about a message."""

    rank: int
    nbytes: int
    meta: bool
    note: bytes


def refusal(sender: Side, receiver: Side, tag: Tag, *, at_sender: bool) -> MessageMismatchError | None:
    """The error if the two sides do not fit, else None.

    Args:
        sender: what the sender said.
        receiver: what the receiver said.
        tag: the tag that made them match.
        at_sender: who will raise it (decides which note is ``mine``).
    """
    text = _text(sender, receiver, tag)
    if text is None:
        return None
    error = MessageMismatchError(text)
    mine, theirs = (sender, receiver) if at_sender else (receiver, sender)
    error.mine, error.theirs = mine.note, theirs.note
    return error


def refused_late(receiver: Side, rank: int, tag: Tag) -> MessageMismatchError:
    """The error of ``rank``, whose message was refused after its send had completed (eager limit)."""
    at = f" at {told(receiver.note)}" if receiver.note else ""
    error = MessageMismatchError(
        f"rank {receiver.rank}{at} refused a message that rank {rank} sent to it earlier with tag {tag}: it "
        f"receives {receiver.nbytes} bytes. The send had completed already, because of eager_limit."
    )
    error.theirs = receiver.note
    return error


def _text(sender: Side, receiver: Side, tag: Tag) -> str | None:
    if sender[1:3] == receiver[1:3] and _compared(sender.note) == _compared(receiver.note):
        return None
    sent, wanted = Envelope.unpack(sender.note), Envelope.unpack(receiver.note)
    if sent is not None and wanted is not None and sender.meta == receiver.meta:
        return misfit(tag, sender.rank, sent, receiver.rank, wanted)
    reason = _reason(sender, receiver)
    return None if reason is None else f"{reason}. The message was matched by its tag {tag}."


def _reason(sender: Side, receiver: Side) -> str | None:
    s, r = sender.rank, receiver.rank
    if sender.note and receiver.note and _compared(sender.note) != _compared(receiver.note):
        return (
            f"rank {s} is at {told(sender.note)}, but rank {r} is at {told(receiver.note)}. "
            "Every rank must make the same calls in the same order"
        )
    if sender.meta != receiver.meta:
        hollow, solid = (s, r) if sender.meta else (r, s)
        return (
            f"rank {s} sends to rank {r}, but rank {hollow} has a shape without data (device='meta') and rank {solid} "
            "has data: use the same device on both"
        )
    if sender.nbytes != receiver.nbytes:
        return (
            f"rank {s} sends {sender.nbytes} bytes to rank {r}, but rank {r} receives into a buffer of "
            f"{receiver.nbytes} bytes: shape and dtype must be equal on both sides"
        )
    return None


def _compared(note: bytes) -> bytes:
    return note.partition(b"\n")[0]


def told(note: bytes) -> str:
    """A note in an error text: ``broadcast (train.py:3)``, ``recv of (4,) float32 (train.py:3)``."""
    envelope = Envelope.unpack(note)
    if envelope is not None:
        return f"recv of {envelope} ({envelope.place})"
    what, _, place = note.decode("utf-8", "replace").partition("\n")
    return f"{what} ({place})" if place else what
