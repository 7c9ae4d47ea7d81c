"""Who carries the bytes?

The one seam between an algorithm and the world. A transport belongs to one rank of one group: ranks are numbered
within the group, tags live in a namespace of the group. The simulator, local processes and MPI each implement it;
nothing above asks which one it got.

Rules that every transport keeps (the contract tests run on all of them):

1. Messages of one (source, destination, tag) arrive in the order in which they were sent. Tags select: a receive
   never takes a message with another tag.
2. ``isend`` takes the contents of the buffer at the call: the caller may change it at once.
3. ``irecv`` writes into the buffer, or combines into it (``buf = combine(lower, higher)`` where *lower* and *higher*
   are the operands of the lower and the higher rank), at the latest when ``wait`` returns. Nobody may look before.
4. A send completes when the other side has posted its receive (as MPI's synchronous send), unless it is smaller than
   the backend's eager limit.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

__all__ = ["Tag", "Transport", "Work", "tag_text"]

Tag = tuple[int, int, int]
"""(group id, channel, number): channel 0 holds the user's own tags, channel 1 the sequence numbers of collectives."""


def tag_text(tag: Tag) -> str:
    """A tag of the user's for a person: ``tag 3``, ``tag 3 in group 1``."""
    group, _, number = tag
    return f"tag {number}" if not group else f"tag {number} in group {group}"


class Work(Protocol):
    """An operation under way."""

    def wait(self, timeout: float | None = None) -> None:
        """Return when the operation is complete; raise what made it fail, or a DistTimeoutError after ``timeout`` seconds."""


class Transport(Protocol):
    """Point-to-point messages inside one group."""

    rank: int
    size: int

    def isend(self, buf: Any, dst: int, tag: Tag) -> Work:
        """Start to send ``buf`` (contiguous array) to group rank ``dst``."""

    def irecv(self, buf: Any, src: int, tag: Tag, combine: np.ufunc | None = None) -> Work:
        """Start to receive into ``buf`` (writeable contiguous array) from group rank ``src``."""
