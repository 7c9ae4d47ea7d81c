"""How do several chunks travel as one message?

Neighbouring chunks of one buffer are a slice of it and travel as they are. Others are packed one behind the other into
an array that is made for the message, and unpacked where they arrive. A message that a rank sends while it receives
into the same chunks is packed too: its contents are those from before the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .call import Call
from .reduce_op import combine_into
from .step import Transfer

__all__ = ["landing", "outgoing", "overlap", "unpack"]


def overlap(send: Transfer | None, recv: Transfer | None) -> bool:
    """Whether a step receives into a chunk that it sends."""
    return send is not None and recv is not None and not set(send.chunks).isdisjoint(recv.chunks)


def outgoing(call: Call, chunks: tuple[int, ...], copy: bool) -> Any:
    """One contiguous array with the contents of the chunks.

    Args:
        call: whose chunks.
        chunks: their numbers, in order.
        copy: True if it may not share memory with them.
    """
    view = call.view(chunks)
    if view is None:
        return np.concatenate([call.chunk(index) for index in chunks])
    return view.copy() if copy else view


def landing(call: Call, chunks: tuple[int, ...]) -> tuple[Any, bool]:
    """Where a message about these chunks is received, and whether it must be unpacked from there afterwards."""
    view = call.view(chunks)
    if view is not None:
        return view, False
    return np.empty_like(call.chunk(chunks[0]), shape=(sum(call.chunk(index).size for index in chunks),)), True


def unpack(call: Call, chunks: tuple[int, ...], received: Any, combine: np.ufunc | None, lower: bool) -> None:
    """Write (or fold) a received message into its chunks.

    Args:
        call: whose chunks.
        chunks: their numbers, in the order in which they were packed.
        received: the packed message.
        combine: how to fold, or None.
        lower: the message comes from a lower rank: its values are the left operands.
    """
    start = 0
    for index in chunks:
        target = call.chunk(index)
        combine_into(target, received[start : start + target.size], combine, lower)
        start += target.size
