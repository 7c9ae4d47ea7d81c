"""How does an all-reduce need few rounds *and* few bytes?

Rabenseifner's algorithm. First a reduce-scatter by recursive halving: a rank and its farthest partner each keep one half of
what they have and give the other half away, to be combined; then quarters with a nearer partner, and so on, until each
holds one complete chunk. Then an all-gather by recursive doubling, the same way back. Both take log2(p) rounds and move
(p - 1)/p of the buffer: 2 log2(p) alpha + 2 (p - 1)/p n beta + (p - 1)/p n gamma. The buffer is cut into as many chunks as
ranks take part, a power of two; the others are folded in (``folding``).

Each half is a collective of its own. There the buffer has a chunk for each rank, and with ranks folded in a place stands for
two chunks.

Source: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004; Thakur, Rabenseifner and Gropp, IJHPCA 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from .folding import fold, largest_power, place_of, rank_at, unfold
from .layout import Layout
from .step import Step, Transfer

__all__ = [
    "halving_doubling_all_reduce",
    "power_of_two",
    "recursive_doubling_all_gather",
    "recursive_halving_reduce_scatter",
]

_Chunks = list[tuple[int, ...]]
"""The chunks for which each place stands."""


def power_of_two(size: int, layout: Layout) -> int:
    """One chunk for each rank that takes part."""
    return largest_power(size)


def halving_doubling_all_reduce(rank: int, size: int) -> Iterator[Step]:
    """Halve what is mine until it is complete, then double it until it is everything."""
    active = largest_power(size)
    everything = tuple(range(active))
    yield from fold(rank, size, everything)
    place = place_of(rank, size)
    if place is not None:
        chunks: _Chunks = [(chunk,) for chunk in range(active)]
        yield from _halve(place, size, chunks)
        yield Step(finish=(place,))
        yield from _double(place, size, chunks)
    yield from unfold(rank, size, everything)


def recursive_halving_reduce_scatter(rank: int, size: int) -> Iterator[Step]:
    """Chunk r is completed at rank r."""
    yield from fold(rank, size, tuple(range(size)))
    place, chunks = place_of(rank, size), _owned(size)
    if place is None:
        yield Step(recv=Transfer(rank + 1, (rank,)))
        return
    yield from _halve(place, size, chunks)
    yield Step(finish=chunks[place])
    if len(chunks[place]) > 1:
        yield Step(send=Transfer(rank - 1, (rank - 1,)))


def recursive_doubling_all_gather(rank: int, size: int) -> Iterator[Step]:
    """Chunk r comes from rank r."""
    place, chunks = place_of(rank, size), _owned(size)
    if place is None:
        others = tuple(chunk for chunk in range(size) if chunk != rank)
        yield Step(send=Transfer(rank + 1, (rank,)))
        yield Step(recv=Transfer(rank + 1, others))
        return
    pair = len(chunks[place]) > 1
    if pair:
        yield Step(recv=Transfer(rank - 1, (rank - 1,)))
    yield from _double(place, size, chunks)
    if pair:
        yield Step(send=Transfer(rank - 1, tuple(chunk for chunk in range(size) if chunk != rank - 1)))


def _owned(size: int) -> _Chunks:
    """One chunk for each rank: a place stands for its own, and for that of the rank which sits out beside it."""
    extra = size - largest_power(size)
    ranks = [rank_at(place, size) for place in range(largest_power(size))]
    return [(rank - 1, rank) if place < extra else (rank,) for place, rank in enumerate(ranks)]


def _block(place: int, length: int, chunks: _Chunks) -> tuple[int, ...]:
    """The chunks of the aligned block of ``length`` places that holds this one."""
    first = place // length * length
    return tuple(chain.from_iterable(chunks[first : first + length]))


def _halve(place: int, size: int, chunks: _Chunks) -> Iterator[Step]:
    length = len(chunks) // 2
    while length:
        partner = place ^ length
        peer = rank_at(partner, size)
        give, keep = _block(partner, length, chunks), _block(place, length, chunks)
        yield Step(Transfer(peer, give), Transfer(peer, keep), combine=True)
        length //= 2


def _double(place: int, size: int, chunks: _Chunks) -> Iterator[Step]:
    length = 1
    while length < len(chunks):
        partner = place ^ length
        peer = rank_at(partner, size)
        yield Step(Transfer(peer, _block(place, length, chunks)), Transfer(peer, _block(partner, length, chunks)))
        length *= 2
