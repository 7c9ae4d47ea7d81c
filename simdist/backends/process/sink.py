"""Where do arriving bytes go?

A sink tells the link where the next bytes belong, so that they land there directly, without a copy in between:

* `Landing`: into the posted buffer;
* `Folding`: through a small scratch block that stays in the cache, and from there combined into the posted buffer block by
  block. A ufunc works element by element, so blocks give the same bits as the whole;
* `Parcel`: into own memory, because nobody has posted a receive yet.

Invariant: ``want()`` is never empty before ``took`` has returned True.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from simdist.comm.reduce_op import combine_into

__all__ = ["BLOCK_BYTES", "Folding", "Landing", "Parcel", "Sink"]

BLOCK_BYTES = 256 * 1024
"""Scratch of a `Folding`: about what a socket holds, and well inside a core's second-level cache."""


class Sink(Protocol):
    """Takes the payload of one frame.

    Attributes:
        error: what went wrong with the bytes; the payload is taken to its end all the same.
    """

    error: BaseException | None

    def want(self) -> memoryview:
        """The place of the next bytes; may be larger than what comes."""

    def took(self, count: int) -> bool:
        """``count`` bytes were written to the front of ``want()``; True when the payload is complete."""


class Landing:
    """Bytes go straight into ``view``."""

    def __init__(self, view: memoryview) -> None:
        self._rest = view
        self.error: BaseException | None = None

    def want(self) -> memoryview:
        """The unwritten rest of the buffer."""
        return self._rest

    def took(self, count: int) -> bool:
        """Move on by ``count`` bytes."""
        self._rest = self._rest[count:]
        return not self._rest


class Parcel:
    """Bytes are kept until somebody asks for them."""

    def __init__(self, nbytes: int) -> None:
        self.data = np.empty(nbytes, dtype=np.uint8)
        self._landing = Landing(self.data.data)
        self.error: BaseException | None = None

    def want(self) -> memoryview:
        """The unwritten rest."""
        return self._landing.want()

    def took(self, count: int) -> bool:
        """Move on by ``count`` bytes."""
        return self._landing.took(count)


class Folding:
    """Bytes are combined into ``target`` as they come.

    Args:
        target: the posted array, any shape, contiguous.
        combine: ``combine(lower, higher, out=target)``.
        arriving_is_lower: whether the arriving operand belongs to the lower rank.
    """

    def __init__(self, target: np.ndarray[Any, Any], combine: Any, arriving_is_lower: bool) -> None:
        self._target = target.reshape(-1)
        self._combine, self._lower = combine, arriving_is_lower
        per_block = max(1, BLOCK_BYTES // target.itemsize)
        # Only a ufunc is known to work element by element; any other callable sees the whole message at once.
        self._length = min(per_block, target.size) if isinstance(combine, np.ufunc) else target.size
        self._scratch = np.empty(self._length, dtype=target.dtype)
        self._bytes = self._scratch.view(np.uint8).data
        self._done, self._fill = 0, 0
        self.error: BaseException | None = None

    def _block(self) -> int:
        return min(self._length, self._target.size - self._done)

    def want(self) -> memoryview:
        """The unwritten rest of the current block."""
        return self._bytes[self._fill : self._block() * self._scratch.itemsize]

    def took(self, count: int) -> bool:
        """Move on by ``count`` bytes and combine the block when it is full."""
        self._fill += count
        block = self._block()
        if self._fill == block * self._scratch.itemsize:
            target = self._target[self._done : self._done + block]
            try:
                combine_into(target, self._scratch[:block], self._combine, self._lower)
            except Exception as error:  # belongs to the rank that waits for it, not to the thread that moves the bytes
                self.error = error
            self._done, self._fill = self._done + block, 0
        return self._done == self._target.size
