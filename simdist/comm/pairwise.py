"""How does every rank give every other rank something of its own?

In round k every rank sends to the one k places to its right and receives from the one k places to its left: p - 1 rounds
in which each rank sends one block and receives one, and no block passes through a third rank. It moves the fewest bytes
possible and works for blocks of any sizes, empty ones too; the price is p - 1 latencies.

The block from rank s to rank d is chunk ``s * size + d``. Time on an idle network for blocks of m bytes:
(p - 1)(alpha + m beta). Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
MPICH", IJHPCA 2005.
"""

from __future__ import annotations

from collections.abc import Iterator

from .step import Step, Transfer

__all__ = ["pairwise_all_to_all"]


def pairwise_all_to_all(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """P - 1 rounds of one block out and one in; the rank's block for itself stays where it is."""
    for k in range(1, size):
        to, source = (rank + k) % size, (rank - k) % size
        yield Step(
            send=Transfer(to, (rank * size + to,)),
            recv=Transfer(source, (source * size + rank,)),
        )
