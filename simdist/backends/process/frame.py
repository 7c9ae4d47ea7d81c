"""What does one message between two ranks look like on the wire?

A frame is a fixed header, a note (a short text that both sides may compare), and perhaps a payload of raw bytes. Arrays are
never pickled: header, note and the array's own memory go out in one system call.

How a message travels (rule 4 of the transport: a send completes when the receive is posted):

* small: ``EAGER`` with its payload; the receiver answers ``ACK`` when it has matched it (not if ``FREE`` is set).
* large: ``RTS`` (request to send), and ``CTS`` (clear to send) comes back when the receive is posted; then ``DATA``. So
  nothing large ever arrives that has no place to go.
* refused: ``NACK`` when both sides are there and do not fit: it carries the receiver's note and size.
* ``BYE``: this rank has returned and will neither send nor receive anything new.
* ``SAY`` and ``ALARM`` carry a note about a collective (by its tag) and no message: see `accord`.

Source: the eager and rendezvous protocols of MPI implementations.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from simdist.comm.transport import Tag

__all__ = ["EAGER_BYTES", "FREE", "HEADER", "META", "NOTE_LIMIT", "NO_TAG", "Frame", "Kind", "parse", "payload_length"]

EAGER_BYTES = 64 * 1024
"""Messages up to this size travel with their header (measured: the extra round trip is dear below, cheap above)."""

NOTE_LIMIT = 2048
"""Bytes a note may have."""

FREE = 1
"""Flag: the sender does not wait for an answer."""

META = 2
"""Flag: a message of shapes only; it has a size and no bytes."""

NO_TAG: Tag = (0, 0, 0)

HEADER = struct.Struct("<BBHqqqqq")
"""kind, flags, length of the note, number, three parts of the tag, size in bytes."""


class Kind(IntEnum):
    """What a frame says."""

    EAGER = 1
    RTS = 2
    CTS = 3
    DATA = 4
    ACK = 5
    NACK = 6
    BYE = 7
    SAY = 8
    ALARM = 9


class Frame(NamedTuple):
    """One frame without its payload.

    Attributes:
        kind: what it says.
        number: the sender's number of the message it is about.
        tag: the message's tag.
        nbytes: the message's size (in a NACK: the size of the receiver's buffer).
        flags: ``FREE``, ``META`` or both.
        note: see the module.
    """

    kind: int
    number: int
    tag: Tag = NO_TAG
    nbytes: int = 0
    flags: int = 0
    note: bytes = b""

    def pack(self) -> bytes:
        """Header and note as bytes."""
        head = HEADER.pack(self.kind, self.flags, len(self.note), self.number, *self.tag, self.nbytes)
        return head + self.note if self.note else head


def parse(buffer: memoryview, start: int, end: int) -> tuple[Frame, int] | None:
    """Read one frame from ``buffer[start:end]``.

    Returns:
        The frame and the position behind it, or None as long as its header or note is not complete.
    """
    body = start + HEADER.size
    if body > end:
        return None
    kind, flags, length, number, group, channel, index, nbytes = HEADER.unpack_from(buffer, start)
    if body + length > end:
        return None
    note = bytes(buffer[body : body + length]) if length else b""
    return Frame(kind, number, (group, channel, index), nbytes, flags, note), body + length


def payload_length(frame: Frame) -> int:
    """How many bytes follow the frame."""
    if frame.kind == Kind.DATA or (frame.kind == Kind.EAGER and not frame.flags & META):
        return frame.nbytes
    return 0
