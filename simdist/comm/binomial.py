"""How does one rank reach all, or all reach one, in log2(p) rounds?

A binomial tree, seen from the root (ranks are counted from the root on, so any root will do). Broadcast: in round k
every rank that has the data sends it 2**k ranks further; after ceil(log2 p) rounds everybody has it. Reduce is the
same tree walked backwards: leaves send first, inner ranks combine what their children bring, then send up. The whole
buffer is one chunk, and the time on an idle network ceil(log2 p) (alpha + n beta).

Gather and scatter use the same tree with one chunk per rank: an edge carries the chunks of the subtree behind it, so the
bytes halve from level to level: ceil(log2 p) alpha + (p - 1)/p n beta. Source: Thakur, Rabenseifner and Gropp, "Optimization of
collective communication operations in MPICH", IJHPCA 2005.
"""

from __future__ import annotations

from collections.abc import Iterator

from .step import WHOLE, Step, Transfer

__all__ = ["binomial_broadcast", "binomial_gather", "binomial_reduce", "binomial_scatter"]


def _parent_bit(position: int, size: int) -> int:
    """The lowest set bit of a rank's position in the tree: its distance to its parent (the root's: the first power >= p)."""
    bit = 1
    while bit < size and not position & bit:
        bit <<= 1
    return bit


def binomial_broadcast(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Receive once from the parent, then send to the children, the one with the largest subtree first."""
    position = (rank - root) % size
    bit = _parent_bit(position, size)
    if position:
        yield Step(recv=Transfer((rank - bit) % size, WHOLE))
    while bit := bit >> 1:
        if position + bit < size:
            yield Step(send=Transfer((rank + bit) % size, WHOLE))


def binomial_reduce(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Combine what the children send, the smallest subtree first, then send to the parent; the root finishes."""
    position = (rank - root) % size
    parent = _parent_bit(position, size)
    bit = 1
    while bit < parent:
        if position + bit < size:
            yield Step(recv=Transfer((rank + bit) % size, WHOLE), combine=True)
        bit <<= 1
    if position:
        yield Step(send=Transfer((rank - parent) % size, WHOLE))
    else:
        yield Step(finish=WHOLE)


def _subtree(position: int, bit: int, root: int, size: int) -> tuple[int, ...]:
    """The ranks whose positions are the ``bit`` ones from ``position`` on: the subtree of a child at that distance."""
    return tuple((p + root) % size for p in range(position, min(position + bit, size)))


def binomial_gather(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Chunk r starts at rank r; each rank collects the chunks of its subtree, then sends them up in one message."""
    position = (rank - root) % size
    parent = _parent_bit(position, size)
    bit = 1
    while bit < parent:
        if position + bit < size:
            yield Step(recv=Transfer((rank + bit) % size, _subtree(position + bit, bit, root, size)))
        bit <<= 1
    if position:
        yield Step(send=Transfer((rank - parent) % size, _subtree(position, parent, root, size)))


def binomial_scatter(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """The same tree downwards: each rank gets the chunks of its subtree and hands on those of its children's."""
    position = (rank - root) % size
    bit = _parent_bit(position, size)
    if position:
        yield Step(recv=Transfer((rank - bit) % size, _subtree(position, bit, root, size)))
    while bit := bit >> 1:
        if position + bit < size:
            yield Step(send=Transfer((rank + bit) % size, _subtree(position + bit, bit, root, size)))
