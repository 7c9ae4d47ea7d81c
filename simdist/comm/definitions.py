"""What does each collective mean?

The shortest text that says it: a function that sees all ranks' buffers at once. Nothing runs like this; tests compare
every algorithm with it, to a tolerance (an algorithm adds in its own order, the definition from rank 0 up).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .reduce_op import ReduceOp

__all__ = ["all_gather", "all_reduce", "broadcast", "gather", "reduce", "reduce_scatter", "scatter"]

Arrays = Sequence[Any]


def reduce(buffers: Arrays, op: ReduceOp = ReduceOp.SUM) -> Any:
    """The reduction of all buffers, which ``reduce`` leaves on the root."""
    total = buffers[0].copy()
    for buffer in buffers[1:]:
        total = op.combine(total, buffer)
    return total / len(buffers) if op is ReduceOp.AVG else total


def all_reduce(buffers: Arrays, op: ReduceOp = ReduceOp.SUM) -> list[Any]:
    """Every rank holds the reduction."""
    return [reduce(buffers, op) for _ in buffers]


def reduce_scatter(buffers: Arrays, op: ReduceOp = ReduceOp.SUM) -> list[Any]:
    """Rank r holds the r-th part of the reduction (buffers: one-dimensional, cut into equal parts)."""
    return list(np.array_split(reduce(buffers, op), len(buffers)))


def all_gather(buffers: Arrays) -> list[list[Any]]:
    """Every rank holds everybody's buffer, in rank order."""
    return [[b.copy() for b in buffers] for _ in buffers]


def broadcast(buffers: Arrays, root: int) -> list[Any]:
    """Every rank holds the root's buffer."""
    return [buffers[root].copy() for _ in buffers]


def gather(buffers: Arrays, root: int) -> list[list[Any] | None]:
    """The root holds everybody's buffer, in rank order; the others nothing."""
    return [[b.copy() for b in buffers] if rank == root else None for rank in range(len(buffers))]


def scatter(parts: Arrays, root: int) -> list[Any]:
    """Rank r holds the r-th of the root's parts."""
    return [part.copy() for part in parts]
