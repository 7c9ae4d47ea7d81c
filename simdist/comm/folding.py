"""What do algorithms for powers of two do with the other ranks?

Exchanges between rank r and r XOR 2**k need a power of two. With p = 2**m + extra ranks, the first 2 * extra ranks pair up:
the even one of each pair gives its whole buffer to the odd one, sits out, and gets the result at the end. The 2**m ranks
that take part have *places* 0 to 2**m - 1. The price is two more messages of the whole buffer on the longest path.

Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005.
"""

from __future__ import annotations

from collections.abc import Iterator

from .step import Step, Transfer

__all__ = ["fold", "fold_pairs", "largest_power", "place_of", "rank_at", "unfold"]


def largest_power(size: int) -> int:
    """The largest power of two that is at most ``size``."""
    return 1 << (size.bit_length() - 1)


def place_of(rank: int, size: int) -> int | None:
    """The place of a rank among those that take part, or None if it sits out."""
    extra = size - largest_power(size)
    if rank >= 2 * extra:
        return rank - extra
    return rank // 2 if rank % 2 else None


def rank_at(place: int, size: int) -> int:
    """The rank that has a place."""
    extra = size - largest_power(size)
    return 2 * place + 1 if place < extra else place + extra


def fold(rank: int, size: int, chunks: tuple[int, ...]) -> Iterator[Step]:
    """The step before: the even ranks of the pairs give their chunks to the odd ones."""
    if rank < 2 * (size - largest_power(size)):
        if rank % 2:
            yield Step(recv=Transfer(rank - 1, chunks), combine=True)
        else:
            yield Step(send=Transfer(rank + 1, chunks))


def fold_pairs(size: int) -> list[tuple[int, int]]:
    """(even, odd) of each pair."""
    return [(rank, rank + 1) for rank in range(0, 2 * (size - largest_power(size)), 2)]


def unfold(rank: int, size: int, chunks: tuple[int, ...]) -> Iterator[Step]:
    """The step after: the odd ranks of the pairs give the result back."""
    if rank < 2 * (size - largest_power(size)):
        if rank % 2:
            yield Step(send=Transfer(rank - 1, chunks))
        else:
            yield Step(recv=Transfer(rank + 1, chunks))
