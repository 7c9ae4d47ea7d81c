"""How does an all-reduce need few rounds *and* few bytes?

Rabenseifner's algorithm. First a reduce-scatter by recursive halving: a rank and its farthest partner each keep one half of
what they have and give the other half away, to be combined; then quarters with a nearer partner, and so on, until each
holds one complete chunk. Then an all-gather by recursive doubling, the same way back. Both take log2(p) rounds and move
(p - 1)/p of the buffer: 2 log2(p) alpha + 2 (p - 1)/p n beta + (p - 1)/p n gamma. The buffer is cut into as many chunks as
ranks take part, a power of two; the others are folded in (``folding``).

Source: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
"""

from __future__ import annotations

from collections.abc import Iterator

from .folding import fold, largest_power, place_of, rank_at, unfold
from .layout import Layout
from .step import Step, Transfer

__all__ = ["halving_doubling_all_reduce", "power_of_two"]


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
        yield from _halve(place, size, active)
        yield Step(finish=(place,))
        yield from _double(place, size, active)
    yield from unfold(rank, size, everything)


def _block(place: int, length: int) -> tuple[int, ...]:
    """The aligned block of ``length`` chunks that holds the place's own."""
    first = place // length * length
    return tuple(range(first, first + length))


def _halve(place: int, size: int, active: int) -> Iterator[Step]:
    length = active // 2
    while length:
        partner = place ^ length
        peer = rank_at(partner, size)
        yield Step(Transfer(peer, _block(partner, length)), Transfer(peer, _block(place, length)), combine=True)
        length //= 2


def _double(place: int, size: int, active: int) -> Iterator[Step]:
    length = 1
    while length < active:
        partner = place ^ length
        peer = rank_at(partner, size)
        yield Step(Transfer(peer, _block(place, length)), Transfer(peer, _block(partner, length)))
        length *= 2
