"""What does it cost when one rank does all the talking?

The root exchanges one chunk (or the whole buffer) with every other rank, one after the other: (p - 1)(alpha + m beta)
for m bytes each. It is what a person writes first, it needs no memory at the other ranks, and its time grows with p. Chunk r
belongs to rank r.
"""

from __future__ import annotations

from collections.abc import Iterator

from .step import WHOLE, Step, Transfer

__all__ = ["star_broadcast", "star_gather", "star_reduce", "star_scatter"]


def star_gather(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Everybody sends its chunk to the root, which takes them in rank order."""
    if rank != root:
        yield Step(send=Transfer(root, (rank,)))
        return
    for peer in range(size):
        if peer != root:
            yield Step(recv=Transfer(peer, (peer,)))


def star_scatter(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """The root sends each rank its chunk, in rank order."""
    if rank != root:
        yield Step(recv=Transfer(root, (rank,)))
        return
    for peer in range(size):
        if peer != root:
            yield Step(send=Transfer(peer, (peer,)))


def star_broadcast(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """The root sends the whole buffer to each rank in turn."""
    if rank != root:
        yield Step(recv=Transfer(root, WHOLE))
        return
    for peer in range(size):
        if peer != root:
            yield Step(send=Transfer(peer, WHOLE))


def star_reduce(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """The root receives and combines everybody's buffer in turn."""
    if rank != root:
        yield Step(send=Transfer(root, WHOLE))
        return
    for peer in range(size):
        if peer != root:
            yield Step(recv=Transfer(peer, WHOLE), combine=True)
    yield Step(finish=WHOLE)
