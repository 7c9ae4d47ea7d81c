"""How do neighbours exchange buffers without waiting for each other in a circle?

By being ready to receive before anybody sends: with all receives posted, every send finds its receiver, all ports
are busy at once, and the exchange takes the time of one message.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist

__all__ = ["naive", "reference"]


def reference(x: Any, rank: int, world_size: int) -> Any:
    """Receive posted first, then the send, then wait for both."""
    received = np.empty_like(x)
    incoming = dist.irecv(received, src=(rank - 1) % world_size)
    outgoing = dist.isend(x, dst=(rank + 1) % world_size)
    outgoing.wait()
    incoming.wait()
    return received


def naive(x: Any, rank: int, world_size: int) -> Any:
    """Everybody sends first: nobody is ready to receive, for ever."""
    received = np.empty_like(x)
    dist.send(x, dst=(rank + 1) % world_size)
    dist.recv(received, src=(rank - 1) % world_size)
    return received
