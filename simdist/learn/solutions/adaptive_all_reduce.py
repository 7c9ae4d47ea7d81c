"""Which all-reduce is good everywhere?

Two. Recursive doubling has the fewest messages; recursive halving and doubling has twice as many and as few bytes as there
can be. Where their formulas cross, one takes over from the other. Source: Thakur, Rabenseifner and Gropp, "Optimization of
collective communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19(1), 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist
from simdist.learn.classroom import ALPHA, BANDWIDTH
from simdist.learn.solutions import ring_all_reduce, small_all_reduce

__all__ = ["halve_and_double", "naive", "reference"]


def reference(x: Any, rank: int, world_size: int) -> None:
    """What the two formulas say is faster."""
    rounds = world_size.bit_length() - 1
    doubling = rounds * (ALPHA + x.nbytes / BANDWIDTH)
    halving = 2 * rounds * ALPHA + 2 * x.nbytes / BANDWIDTH
    if doubling < halving:
        small_all_reduce.reference(x, rank, world_size)
    else:
        halve_and_double(x, rank, world_size)


def halve_and_double(x: Any, rank: int, world_size: int) -> None:
    """Exchange halves with the furthest, quarters with the next; then all the way back."""
    mine, done = slice(0, len(x)), []
    distance = world_size // 2
    while distance:
        middle = (mine.start + mine.stop) // 2
        lower, upper = slice(mine.start, middle), slice(middle, mine.stop)
        keep, give = (upper, lower) if rank & distance else (lower, upper)
        received = np.empty_like(x[keep])
        _exchange(x[give], received, rank ^ distance)
        kept = x[keep]
        kept += received
        done.append((keep, give, rank ^ distance))
        mine = keep
        distance //= 2
    for keep, give, peer in reversed(done):
        _exchange(x[keep], x[give], peer)


def _exchange(sent: Any, received: Any, peer: int) -> None:
    incoming = dist.irecv(received, peer)
    outgoing = dist.isend(sent, peer)
    outgoing.wait()
    incoming.wait()


def naive(x: Any, rank: int, world_size: int) -> None:
    """A ring: as few bytes as there can be, and 2 (p-1) messages, however small they are."""
    ring_all_reduce.reference(x, rank, world_size)
