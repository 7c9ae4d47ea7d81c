"""How do all ranks know everything after log2(p) exchanges?

In round k every rank exchanges all it has with the one whose number differs in bit k. Few rounds, whole buffers: the best
for small messages, whose time is latency. All-reduce: log2(p) (alpha + n beta + n gamma), both sides combine the same two
operands, the lower rank's on the left, so all ranks end with equal bits. Ranks beyond a power of two are folded in
(``folding``).

Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005.
"""

from __future__ import annotations

from collections.abc import Iterator

from .folding import fold, largest_power, place_of, rank_at, unfold
from .step import WHOLE, Step, Transfer

__all__ = ["recursive_doubling_all_reduce"]


def recursive_doubling_all_reduce(rank: int, size: int) -> Iterator[Step]:
    """Exchange the whole buffer with ever farther partners."""
    yield from fold(rank, size, WHOLE)
    place = place_of(rank, size)
    if place is not None:
        bit = 1
        while bit < largest_power(size):
            partner = Transfer(rank_at(place ^ bit, size), WHOLE)
            yield Step(partner, partner, combine=True)
            bit <<= 1
        yield Step(finish=WHOLE)
    yield from unfold(rank, size, WHOLE)
