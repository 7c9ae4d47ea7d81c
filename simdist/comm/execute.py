"""How does a rank carry out its steps?

The executor is the same for every algorithm and every backend; the transport is the only way out. In each step the
receive is posted first, then the send, then both are waited for: with the receive posted, no ring can block itself.

The order of additions is fixed by the steps alone, and each addition has the lower rank's value on the left; so the
bytes of the result are the same on every backend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .call import Call
from .transport import Tag, Transport

__all__ = ["COLLECTIVE_CHANNEL", "USER_CHANNEL", "combine_into", "divide", "execute", "tag_of"]

USER_CHANNEL, COLLECTIVE_CHANNEL = 0, 1


def tag_of(call: Call) -> Tag:
    """The tag of all messages of one collective: they can be matched by nothing else."""
    return (call.request.members.id, COLLECTIVE_CHANNEL, call.sequence)


def combine_into(buf: Any, received: Any, combine: np.ufunc | None, received_is_lower: bool) -> None:
    """Write (or fold) a received message into ``buf``: the value of the lower rank is the left operand."""
    if combine is None:
        buf[...] = received
    elif received_is_lower:
        combine(received, buf, out=buf)
    else:
        combine(buf, received, out=buf)


def divide(chunk: Any, divisor: int) -> None:
    """Divide a complete chunk in place (the last act of an average)."""
    np.divide(chunk, divisor, out=chunk)


def execute(call: Call, transport: Transport) -> None:
    """Run this rank's steps; on return the chunks hold the result as far as the algorithm promises it here."""
    tag, request = tag_of(call), call.request
    for send, recv, combine, finish in request.steps():
        if recv is not None:
            arriving = transport.irecv(call.chunk(recv.chunk), recv.peer, tag, request.combine if combine else None)
        if send is not None:
            leaving = transport.isend(call.chunk(send.chunk), send.peer, tag)
            leaving.wait()
        if recv is not None:
            arriving.wait()
        if finish is not None and request.divisor:
            divide(call.chunk(finish), request.divisor)
