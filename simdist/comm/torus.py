"""How does an all-reduce use the cables of a grid, or spare the slow ones between machines?

The ranks stand in rows of equal length. Each row reduces its buffer and leaves every member a shard (a ring reduce-scatter);
the members of each column, one of every row, all-reduce their shard in a ring; each row gathers the shards again. With c
columns and r rows, of n bytes every rank sends 2 (c - 1)/c n inside its row, but only 2 (r - 1)/r n/c along its column.

* On a torus rows and columns are the two directions of cables.
* In a cluster of machines rows are the nodes (*hierarchical*): the slow links between nodes carry one c-th of what a flat
  ring sends over them, and in 2 (c - 1) + 2 (r - 1) rounds instead of 2 (c r - 1).

Nodes of unequal size have no shards in common: there every node reduces to its first rank, these *leaders* all-reduce in a
ring, and each hands the result to its node.

Source: Jia et al., "Highly scalable deep learning training system with mixed-precision", 2018 (hierarchical); Mikami et
al., "Massively distributed SGD: ImageNet/ResNet-50 training in a flash", 2018 (2-D torus).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from .binomial import binomial_broadcast, binomial_reduce
from .layout import FLAT, Layout
from .ring import ring_all_gather, ring_all_reduce, ring_reduce_scatter
from .step import Step, Transfer

__all__ = ["grid_pieces", "hierarchical_all_reduce", "hierarchical_pieces", "torus_all_reduce"]

_Rows = tuple[tuple[int, ...], ...]


def grid_pieces(size: int, layout: Layout) -> int:
    """One chunk for each rank: a shard for each column, cut once more for each row."""
    return size


def hierarchical_pieces(size: int, layout: Layout) -> int:
    """One chunk for each rank if the nodes are alike; else one for each leader."""
    nodes = _nodes(size, layout)
    return size if _alike(nodes) else len(nodes)


def torus_all_reduce(rank: int, size: int, root: int = 0, layout: Layout = FLAT) -> Iterator[Step]:
    """Rows, columns, rows."""
    yield from _grid(rank, layout.rows(size))


def hierarchical_all_reduce(rank: int, size: int, root: int = 0, layout: Layout = FLAT) -> Iterator[Step]:
    """Inside the node, between the nodes, inside the node."""
    nodes = _nodes(size, layout)
    yield from _grid(rank, nodes) if _alike(nodes) else _leaders(rank, nodes)


def _nodes(size: int, layout: Layout) -> _Rows:
    return layout.nodes or (tuple(range(size)),)


def _alike(rows: _Rows) -> bool:
    return len({len(row) for row in rows}) == 1


def _grid(rank: int, rows: _Rows) -> Iterator[Step]:
    row = next(row for row in rows if rank in row)
    mine = row.index(rank)
    column = tuple(other[mine] for other in rows)
    depth = len(rows)
    # chunk c * depth + r is the r-th part of the shard of column c
    shards = [tuple(range(c * depth, (c + 1) * depth)) for c in range(len(row))]
    parts: list[tuple[int, ...]] = [(chunk,) for chunk in shards[mine]]
    yield from _among(row, shards, ring_reduce_scatter(mine, len(row)), finish=False)
    yield from _among(column, parts, ring_all_reduce(column.index(rank), depth), finish=True)
    yield from _among(row, shards, ring_all_gather(mine, len(row)), finish=False)


def _leaders(rank: int, nodes: _Rows) -> Iterator[Step]:
    node = next(node for node in nodes if rank in node)
    mine, leaders = node.index(rank), tuple(node[0] for node in nodes)
    everything = [tuple(range(len(nodes)))]
    yield from _among(node, everything, binomial_reduce(mine, len(node)), finish=False)
    if not mine:
        parts: list[tuple[int, ...]] = [(chunk,) for chunk in range(len(leaders))]
        yield from _among(leaders, parts, ring_all_reduce(leaders.index(rank), len(leaders)), finish=True)
    yield from _among(node, everything, binomial_broadcast(mine, len(node)), finish=False)


def _among(
    ranks: tuple[int, ...], chunks: list[tuple[int, ...]], steps: Iterator[Step], *, finish: bool
) -> Iterator[Step]:
    """An algorithm's steps among some ranks, in which its chunk i stands for the chunks ``chunks[i]``."""

    def told(transfer: Transfer | None) -> Transfer | None:
        if transfer is None:
            return None
        return Transfer(ranks[transfer.peer], tuple(chain.from_iterable(chunks[i] for i in transfer.chunks)))

    for step in steps:
        done = tuple(chain.from_iterable(chunks[i] for i in step.finish)) if finish else ()
        if step.send is not None or step.recv is not None or done:
            yield Step(told(step.send), told(step.recv), step.combine, done)
