"""What must a transport of your own do?

Carry arrays of bytes from rank to rank. It is asked for less than ``comm.Transport``: sums, receives from any source, sends that
complete when they are received, comparisons of both sides and time-outs are made of it. What it has to keep
(``simdist.conformance.check_transport`` looks at each):

1. Messages of one (source, destination, tag) arrive in the order in which they were sent, each once, none lost.
2. A receive never takes a message with another tag, or from another rank.
3. A message holds what the buffer held when ``isend`` was called; when the send's ``wait`` has returned the buffer is free.
4. ``irecv`` gets exactly as many bytes as it has room for: both sides know the size.
5. ``wait()`` returns when the work is done, ``wait(timeout)`` raises ``TimeoutError`` if that takes longer; it may be called
   again. No send waits for ever once its receive is waited for; a message may stay where it is until somebody waits.
6. Calls come from several threads, one for each peer and direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simdist.comm.transport import Tag, Work
from simdist.errors import DistBackendError

__all__ = ["CONTROL", "ByteTransport", "Factory", "ends"]

CONTROL: Tag = (0, -1, 0)
"""The tag of simdist's own messages: headers, notes. Payloads have the tags of their messages, with channels from 0 on."""


class ByteTransport(Protocol):
    """One rank's end.

    Attributes:
        rank: whose end it is.
        size: number of ranks.
    """

    rank: int
    size: int

    def isend(self, buf: npt.NDArray[np.uint8], dst: int, tag: Tag) -> Work:
        """Start to send ``buf`` (one-dimensional, not empty, perhaps read-only) to rank ``dst``."""

    def irecv(self, buf: npt.NDArray[np.uint8], src: int, tag: Tag) -> Work:
        """Start to receive into ``buf`` from rank ``src``."""


Factory = Callable[[int], Sequence[ByteTransport]]
"""(number of ranks) -> the end of each rank. Called once for each run: nothing of an earlier run may be left in them. An end may
have a ``close()``: it is called when the run is over."""


def ends(name: str, factory: Factory, size: int) -> list[Any]:
    """What a factory gives, looked at.

    Args:
        name: of the backend, for texts.
        factory: the learner's.
        size: number of ranks.

    Raises:
        DistBackendError: it is not one end for each rank; the text says what is missing.
    """
    made = factory(size)
    try:
        found = list(made)
    except TypeError:
        found = []
    if len(found) != size:
        raise DistBackendError(
            f"backend {name!r}: its factory must return a list with the end of each of the {size} ranks, got "
            f"{f'{len(found)} of them' if isinstance(made, Sequence) else repr(made)}."
        )
    for rank, end in enumerate(found):
        missing = [method for method in ("isend", "irecv") if not callable(getattr(end, method, None))]
        if missing:
            raise DistBackendError(
                f"backend {name!r}: the end of rank {rank}, a {type(end).__name__}, has no {' and no '.join(missing)}. A "
                "transport is isend(buf, dst, tag) and irecv(buf, src, tag), which return something with wait(timeout)."
            )
        told = getattr(end, "rank", None), getattr(end, "size", None)
        if told != (rank, size):
            raise DistBackendError(
                f"backend {name!r}: the end of rank {rank} of {size} says rank={told[0]}, size={told[1]}. The factory must "
                "return the ends in the order of their ranks."
            )
    return found
