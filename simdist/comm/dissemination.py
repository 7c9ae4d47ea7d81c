"""How do ranks know that everybody has arrived?

In round k each rank tells the rank 2**k further that it (and all it has heard of) is there. After ceil(log2 p) rounds
each has heard of all. Messages are empty: the time is ceil(log2 p) alpha. Source: Hensgen, Finkel and Manber, "Two
algorithms for barrier synchronization", IJPP 1988.
"""

from __future__ import annotations

from collections.abc import Iterator

from .step import WHOLE, Step, Transfer

__all__ = ["dissemination_barrier"]


def dissemination_barrier(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """ceil(log2 p) rounds of one empty message out and one in."""
    distance = 1
    while distance < size:
        yield Step(send=Transfer((rank + distance) % size, WHOLE), recv=Transfer((rank - distance) % size, WHOLE))
        distance <<= 1
