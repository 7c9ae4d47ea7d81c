"""How does a rank carry out its steps?

The executor is the same for every algorithm and every backend; the transport is the only way out. In each step the
receive is posted first, then the send, then both are waited for: with the receive posted, no ring can block itself.
What a message of several chunks looks like is the business of ``packing``.

The order of additions is fixed by the steps alone, and each addition has the lower rank's value on the left; so the
bytes of the result are the same on every backend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .call import Call
from .packing import landing, outgoing, overlap, unpack
from .transport import Tag, Transport

__all__ = ["COLLECTIVE_CHANNEL", "USER_CHANNEL", "divide", "execute", "tag_of"]

USER_CHANNEL, COLLECTIVE_CHANNEL = 0, 1


def tag_of(call: Call) -> Tag:
    """The tag of all messages of one collective: they can be matched by nothing else."""
    return (call.request.members.id, COLLECTIVE_CHANNEL, call.sequence)


def divide(chunk: Any, divisor: int) -> None:
    """Divide a complete chunk in place (the last act of an average)."""
    np.divide(chunk, divisor, out=chunk)


def execute(call: Call, transport: Transport) -> None:
    """Run this rank's steps; on return the chunks hold the result as far as the algorithm promises it here."""
    tag, request = tag_of(call), call.request
    for send, recv, combine, finish in request.steps():
        if send is not None:  # before the receive is posted: from then on its chunks may change
            sent = outgoing(call, send.chunks, copy=overlap(send, recv))
        if recv is not None:
            fold = request.combine if combine else None
            buf, packed = landing(call, recv.chunks)
            arriving = transport.irecv(buf, recv.peer, tag, None if packed else fold)
        if send is not None:
            transport.isend(sent, send.peer, tag).wait()
        if recv is not None:
            arriving.wait()
            if packed:
                unpack(call, recv.chunks, buf, fold, recv.peer < transport.rank)
        if request.divisor:
            for index in finish:
                divide(call.chunk(index), request.divisor)
