"""How do ranks in a ring reduce and gather without anybody being a bottleneck?

Every rank talks only to its right neighbour (sends) and its left one (receives). The buffer is cut into as many
chunks as there are ranks, and all links carry one chunk in every step.

* reduce-scatter: p - 1 steps. A chunk starts at the rank after its owner and goes round once; each rank on the way
  adds its own part; it ends, complete, at its owner. Rank r owns chunk r.
* all-gather: p - 1 steps. Each complete chunk goes round once more and is copied.
* all-reduce = reduce-scatter, then all-gather: 2(p - 1) steps, every rank sends 2(p - 1)/p of the buffer, which no
  algorithm can beat in bytes. The price is the number of steps: 2(p - 1) latencies.

Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009.
"""

from __future__ import annotations

from collections.abc import Iterator

from .step import Step, Transfer

__all__ = ["ring_all_gather", "ring_all_reduce", "ring_reduce_scatter"]


def ring_reduce_scatter(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Steps after which ``rank`` holds chunk ``rank`` of the reduction; the other chunks are left half done."""
    right, left = (rank + 1) % size, (rank - 1) % size
    for k in range(size - 1):
        yield Step(
            send=Transfer(right, ((rank - k - 1) % size,)),
            recv=Transfer(left, ((rank - k - 2) % size,)),
            combine=True,
        )
    yield Step(finish=(rank,))


def ring_all_gather(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Steps after which every rank holds all chunks; at the start rank r holds chunk r."""
    right, left = (rank + 1) % size, (rank - 1) % size
    for k in range(size - 1):
        yield Step(send=Transfer(right, ((rank - k) % size,)), recv=Transfer(left, ((rank - k - 1) % size,)))


def ring_all_reduce(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Reduce-scatter, then all-gather."""
    yield from ring_reduce_scatter(rank, size)
    yield from ring_all_gather(rank, size)
