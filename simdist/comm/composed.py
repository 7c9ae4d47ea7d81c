"""Which algorithms are made of two others?

* A long broadcast: scatter the buffer along a binomial tree, then gather the chunks in a ring. lg p + p - 1 rounds, but only
  2 (p - 1)/p n bytes on every rank's link, where the tree alone has lg p times n.
* A long reduce: a ring reduce-scatter, then gather the chunks along the tree.
* An all-reduce along one tree: up and down, 2 ceil(log2 p) messages of the whole buffer on the longest path.
* The naive all-reduce: everybody to rank 0, one after the other, and back: 2 (p - 1)(alpha + n beta).

Source: Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor collective communication library
(InterCom)", SHPCC 1994; Thakur, Rabenseifner and Gropp, IJHPCA 2005.
"""

from __future__ import annotations

from collections.abc import Iterator

from .binomial import binomial_broadcast, binomial_gather, binomial_reduce, binomial_scatter
from .ring import ring_all_gather, ring_reduce_scatter
from .star import star_broadcast, star_reduce
from .step import Step

__all__ = [
    "binomial_tree_all_reduce",
    "reduce_scatter_gather_reduce",
    "scatter_all_gather_broadcast",
    "star_all_reduce",
]


def scatter_all_gather_broadcast(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Chunk r goes to rank r, then round the ring."""
    yield from binomial_scatter(rank, size, root)
    yield from ring_all_gather(rank, size)


def reduce_scatter_gather_reduce(rank: int, size: int, root: int = 0) -> Iterator[Step]:
    """Chunk r is completed at rank r, then brought to the root."""
    yield from ring_reduce_scatter(rank, size)
    yield from binomial_gather(rank, size, root)


def binomial_tree_all_reduce(rank: int, size: int) -> Iterator[Step]:
    """Up the tree to rank 0, and down again."""
    yield from binomial_reduce(rank, size, 0)
    yield from binomial_broadcast(rank, size, 0)


def star_all_reduce(rank: int, size: int) -> Iterator[Step]:
    """Rank 0 collects, combines and hands out."""
    yield from star_reduce(rank, size, 0)
    yield from star_broadcast(rank, size, 0)
