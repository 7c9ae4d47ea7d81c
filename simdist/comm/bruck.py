"""How do p ranks gather, or exchange blocks, in log2(p) rounds for any p?

All-gather: in round k a rank sends all it has (up to 2**k chunks, its own and the next ones) to the rank 2**k before it,
and gets as many from the one 2**k behind: ceil(log2 p) alpha + (p - 1)/p n beta, for any p.

Reduce-scatter: the same rounds backwards, each message turned round and combined where it arrives; what was a tree along which a
chunk spread is one along which contributions meet. With the all-gather behind it, an all-reduce in 2 ceil(log2 p) alpha +
2 (p - 1)/p n beta for any p, where exchanges by halves and doubles have to fold ranks in.

All-to-all: a block has to travel the distance (destination - source) mod p. In round k every rank passes on, by 2**k, all
blocks whose distance has bit k. A block travels as often as its distance has bits, so about half the data moves in each
round: ceil(log2 p) alpha + (n / 2) ceil(log2 p) beta. Few messages, more bytes: for small blocks. Blocks rest at ranks that
are neither source nor destination, so all must be of one size.

Source: Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in multiport
message-passing systems", IEEE TPDS 1997; for the reversal Traeff, "Optimal, non-pipelined reduce-scatter and allreduce
algorithms", arXiv 2410.14234, 2024.
"""

from __future__ import annotations

from collections.abc import Iterator

from .step import Step, Transfer

__all__ = ["bruck_all_gather", "bruck_all_reduce", "bruck_all_to_all", "bruck_reduce_scatter"]


def bruck_all_gather(rank: int, size: int) -> Iterator[Step]:
    """What a rank has doubles in each round: its own chunk and those of the ranks behind it."""
    for back, ahead, mine, theirs in _doubling(rank, size):
        yield Step(Transfer(back, mine), Transfer(ahead, theirs))


def bruck_reduce_scatter(rank: int, size: int) -> Iterator[Step]:
    """What a rank is in charge of halves in each round, until only its own chunk is left."""
    for back, ahead, mine, theirs in reversed(list(_doubling(rank, size))):
        yield Step(Transfer(ahead, theirs), Transfer(back, mine), combine=True)
    yield Step(finish=(rank,))


def bruck_all_reduce(rank: int, size: int) -> Iterator[Step]:
    """Halve, then double."""
    yield from bruck_reduce_scatter(rank, size)
    yield from bruck_all_gather(rank, size)


def _doubling(rank: int, size: int) -> Iterator[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
    """For each round of the all-gather: to whom, from whom, what I have, what comes."""
    distance = 1
    while distance < size:
        count = min(distance, size - distance)
        back, ahead = (rank - distance) % size, (rank + distance) % size
        mine = tuple((rank + i) % size for i in range(count))
        theirs = tuple((ahead + i) % size for i in range(count))
        yield back, ahead, mine, theirs
        distance <<= 1


def bruck_all_to_all(rank: int, size: int) -> Iterator[Step]:
    """Blocks hop by powers of two; block source -> destination is chunk ``source * size + destination``."""
    hop = 1
    while hop < size:
        ahead, back = (rank + hop) % size, (rank - hop) % size
        distances = [distance for distance in range(1, size) if distance & hop]
        yield Step(
            Transfer(ahead, tuple(_block(rank, distance, hop, size) for distance in distances)),
            Transfer(back, tuple(_block(back, distance, hop, size) for distance in distances)),
        )
        hop <<= 1


def _block(rank: int, distance: int, hop: int, size: int) -> int:
    """The block with this distance that rests at ``rank`` before the round of ``hop``: it has done the smaller hops."""
    source = (rank - distance % hop) % size
    return source * size + (source + distance) % size
