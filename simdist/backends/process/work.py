"""What is one message under way, seen from one side?

A `Work` is what `isend` and `irecv` return: it is pending, then done, perhaps with an error. Only the endpoint finishes it,
under its lock; any thread may wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simdist.backends.process.claim import Claim
from simdist.backends.process.mismatch import Side
from simdist.backends.process.sink import Folding, Landing, Sink
from simdist.comm.reduce_op import combine_into
from simdist.comm.transport import Tag

if TYPE_CHECKING:
    from simdist.backends.process.progress import Progress

__all__ = ["Label", "Work", "raw_bytes"]

Label = str | Callable[[], str]
"""What an operation is called in a report; a callable is asked only when a report is made."""


class Work:
    """One send or receive.

    Args:
        progress: what moves messages while somebody waits.
        rank: the rank it belongs to.
        peer: the other rank.
        sends: whether it is a send.
        buf: the array or shape.
        tag: the message's tag.
        note: the text to compare with the other side's.
        label: see `Label`.
        combine: what a receive does with the bytes (None: write).
    """

    __slots__ = (
        "_progress", "buf", "combine", "done", "error", "label", "meta", "nbytes", "note", "peer", "rank", "sends",
        "tag", "view"
    )  # fmt: skip

    def __init__(
        self,
        progress: Progress,
        rank: int,
        peer: int,
        sends: bool,
        buf: Any,
        tag: Tag,
        note: bytes,
        label: Label,
        combine: Any = None,
    ) -> None:
        self._progress = progress
        self.rank, self.peer, self.sends, self.tag = rank, peer, sends, tag
        self.buf, self.note, self.label, self.combine = buf, note, label, combine
        self.view = raw_bytes(buf, writeable=not sends)
        self.meta = self.view is None
        self.nbytes = int(buf.nbytes) if self.view is None else len(self.view)
        self.done = False
        self.error: BaseException | None = None

    def is_completed(self) -> bool:
        """Whether it is done (messages move a little at the call); ``wait`` then returns or raises at once."""
        if not self.done:
            self._progress.poll()
        return self.done

    def wait(self, timeout: float | None = None) -> None:
        """Return when it is done.

        Args:
            timeout: seconds, instead of the run's timeout.

        Raises:
            DistTimeoutError: it took longer than the timeout, or the other rank has returned.
            MessageMismatchError: the two sides do not fit.
        """
        if not self.done:
            self._progress.wait_for(self, timeout)
        error = self._progress.late_error() or self.error
        if error is not None:
            raise error

    def side(self) -> Side:
        """What this side says about the message."""
        return Side(self.rank, self.nbytes, self.meta, self.note)

    def claim(self, *, awaited: bool = False) -> Claim:
        """What this side says as long as it has not met the other."""
        return Claim(self.rank, self.peer, self.sends, self.tag, self.note, awaited)

    def sink(self) -> Sink:
        """Where the payload of a receive goes."""
        assert self.view is not None
        if self.combine is None:
            return Landing(self.view)
        return Folding(self.buf, self.combine, self.peer < self.rank)

    def take(self, data: np.ndarray[Any, Any]) -> None:
        """Take a payload that arrived before the receive was posted (bytes, uint8)."""
        assert self.view is not None
        if self.combine is None:
            self.view[:] = data.data
        elif self.nbytes:
            combine_into(self.buf.reshape(-1), data.view(self.buf.dtype), self.combine, self.peer < self.rank)

    def describe(self) -> str:
        """``all_reduce 7: receive of (4,) float32 from rank 1, tag (0, 1, 7)``."""
        label = self.label() if callable(self.label) else self.label
        what = f"{'send' if self.sends else 'receive'} of {_extent(self.buf, self.nbytes)}"
        where = f"{'to' if self.sends else 'from'} rank {self.peer}, tag {self.tag}"
        return f"{label}: {what} {where}" if label else f"{what} {where}"


def _extent(buf: Any, nbytes: int) -> str:
    shape, dtype = getattr(buf, "shape", None), getattr(buf, "dtype", None)
    return f"{nbytes} bytes" if dtype is None else f"{tuple(shape or ())} {dtype}"


def raw_bytes(buf: Any, *, writeable: bool) -> memoryview | None:
    """The memory of ``buf`` as bytes, or None for an object that has a size and no data.

    Raises:
        ValueError: the memory is not contiguous, or not writeable though it must be.
        TypeError: neither data nor a size; or Python objects, which have no bytes of their own.
    """
    if isinstance(buf, np.ndarray):
        if buf.dtype.hasobject:
            raise TypeError(f"an array of Python objects ({buf.dtype}) cannot be sent as bytes: convert it to numbers")
        if not buf.flags.c_contiguous:
            raise ValueError(
                f"a message needs contiguous memory, this array {buf.shape} has strides {buf.strides}: "
                "use numpy.ascontiguousarray"
            )
        if writeable and not buf.flags.writeable:
            raise ValueError(f"cannot receive into the read-only array {buf.shape} {buf.dtype}: copy it first")
        return buf.reshape(-1).view(np.uint8).data
    try:
        view = memoryview(buf)
    except TypeError:
        if isinstance(getattr(buf, "nbytes", None), (int, np.integer)):
            return None
        raise TypeError(f"a message is an array, bytes, or an object with nbytes; got {type(buf).__name__}") from None
    if writeable and view.readonly:
        raise ValueError(f"cannot receive into a read-only {type(buf).__name__}")
    return view.cast("B") if view.nbytes else memoryview(bytearray())
