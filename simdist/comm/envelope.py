"""What does a message of the user's say about itself?

What it holds and where it was posted. A receive says the same about what it expects, and a backend compares the two when
they meet: bytes of another dtype would be read as numbers that nobody sent. As in torch the shape itself is free, as long
as the number of elements is equal: what was sent as (4,) may be received as (2, 2).
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from simdist import place
from simdist.place import Place

from .transport import Tag, tag_text

__all__ = ["Envelope", "crossed", "misfit"]

_MARK = "message of "


class Envelope(NamedTuple):
    """One side's words about a message.

    Attributes:
        shape: of the array.
        dtype: numpy dtype, or its name.
        where: the user's line, or its text.
    """

    shape: tuple[int, ...]
    dtype: Any
    where: Place | str | None

    @property
    def place(self) -> str:
        """The user's line as text."""
        return self.where if isinstance(self.where, str) else place.text(self.where)

    def __str__(self) -> str:
        return f"{self.shape} {self.dtype}"

    def pack(self) -> bytes:
        """As the note of a message on a wire."""
        shape = ",".join(map(str, self.shape))
        return f"{_MARK}{self.dtype}\n{shape}\n{self.place}".encode()[:2000]

    @classmethod
    def unpack(cls, note: bytes) -> Envelope | None:
        """The envelope in a note, or None if the note is something else."""
        lines = note.decode("utf-8", "replace").split("\n")
        if len(lines) != 3 or not lines[0].startswith(_MARK):
            return None
        return cls(tuple(int(n) for n in lines[1].split(",") if n), lines[0].removeprefix(_MARK), lines[2])


def misfit(tag: Tag, src: int, sent: Envelope, dst: int, wanted: Envelope) -> str | None:
    """Why a message from rank ``src`` cannot be received by rank ``dst`` as the one wants it; None if it can."""
    if sent.dtype == wanted.dtype and prod(sent.shape) == prod(wanted.shape):
        return None
    what, also = ("dtype", ", or convert before sending") if sent.dtype != wanted.dtype else ("number of elements", "")
    return (
        f"rank {src} sends {sent} to rank {dst} with {tag_text(tag)} ({sent.place}), but rank {dst} receives into "
        f"{wanted} ({wanted.place}): the {what} must be equal on both sides. Receive into an array of {sent}{also}."
    )


def unequal(src: int, dst: int, label: str, sent: int, expected: int) -> str:
    """What is said of a message of a collective that is not as large as its receiver expects; sizes in bytes."""
    return (
        f"rank {src} sends {sent} bytes to rank {dst} ({label}), which expects {expected} bytes: both sides must use the same "
        "shape and dtype."
    )


def crossed(src: int, dst: int, sent_tag: Tag, sent: Envelope, wanted_tag: Tag, wanted: Envelope) -> str:
    """What is said of a send and a receive between the same two ranks that wait for ever, because their tags differ."""
    return (
        f"rank {src} sends to rank {dst} with {tag_text(sent_tag)} ({sent.place}), but rank {dst} receives from rank {src} with "
        f"{tag_text(wanted_tag)} ({wanted.place}): a message is taken only by a receive with its own tag and group."
    )
