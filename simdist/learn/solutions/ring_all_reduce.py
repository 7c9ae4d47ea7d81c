"""How does a ring sum up without anybody being a bottleneck?

Reduce-scatter, then all-gather: in each of 2 (p-1) steps every rank sends one p-th of the buffer to its right
neighbour, so all ports are busy all the time, and no byte is sent twice for nothing. Source: Patarasuk and Yuan, J.
Parallel Distrib. Comput. 69(2), 2009.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist

__all__ = ["naive", "reference"]


def _pass_on(sent: Any, rank: int, world_size: int, received: Any) -> None:
    """Send to the right while receiving from the left."""
    incoming = dist.irecv(received, src=(rank - 1) % world_size)
    outgoing = dist.isend(sent, dst=(rank + 1) % world_size)
    outgoing.wait()
    incoming.wait()


def reference(x: Any, rank: int, world_size: int) -> None:
    """Chunks go round adding up, then go round complete."""
    cuts = [i * len(x) // world_size for i in range(world_size + 1)]
    chunks = [x[cuts[i] : cuts[i + 1]] for i in range(world_size)]
    for step in range(world_size - 1):
        target = chunks[(rank - step - 1) % world_size]
        arrived = np.empty_like(target)
        _pass_on(chunks[(rank - step) % world_size], rank, world_size, arrived)
        target += arrived
    for step in range(world_size - 1):
        _pass_on(chunks[(rank + 1 - step) % world_size], rank, world_size, chunks[(rank - step) % world_size])


def naive(x: Any, rank: int, world_size: int) -> None:
    """Whole buffers go round: right numbers, p/2 times the bytes and the time."""
    total = [x.copy()]
    passing = x.copy()
    for _ in range(world_size - 1):
        arrived = np.empty_like(x)
        _pass_on(passing, rank, world_size, arrived)
        passing = arrived
        total.append(arrived)
    # in order of rank, so that at least all ranks add in one order
    ordered = [total[(rank - source) % world_size] for source in range(world_size)]
    x[:] = sum(ordered[1:], ordered[0])
