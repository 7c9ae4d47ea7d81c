"""Do reductions give the same sums, bit for bit?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

import simdist.distributed as dist
from simdist.comm.algorithm import ALGORITHMS
from simdist.comm.reduce_op import ARITHMETIC
from simdist.distributed import ReduceOp

from .program import Program, numbers

__all__ = ["PROGRAMS"]

_LARGE = 30_000  # elements: more than any backend sends at once with its header


def _lengths(world_size: int) -> tuple[int, ...]:
    return 0, 1, world_size - 1, world_size, world_size + 1, _LARGE


def _all_reduce(rank: int, world_size: int) -> list[Any]:
    calls: list[tuple[Any, ReduceOp, int]] = [
        *((np.float32, ReduceOp.AVG, length) for length in _lengths(world_size)),
        (np.complex128, ReduceOp.SUM, 7),
    ]
    for dtype in np.float64, np.float32, np.float16, np.int64, np.uint8, np.bool_:
        known = [op for op in ARITHMETIC if op is not ReduceOp.AVG or np.dtype(dtype).kind == "f"]
        calls += [(dtype, op, 2 * world_size + 1) for op in known]
    out = []
    for dtype, op, length in calls:
        x = numbers(rank, length, dtype)
        dist.all_reduce(x, op=op)
        out.append(x)
    return out


def _bits(rank: int, world_size: int) -> list[Any]:
    out = []
    for dtype in np.int64, np.uint8, np.bool_:
        for op in ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR:
            x = numbers(rank, 9, dtype)
            dist.all_reduce(x, op=op)
            out.append(x)
    x, multiples = numbers(rank, 9), cast(ReduceOp, dist._make_nccl_premul_sum(0.3))
    dist.all_reduce(x, op=multiples)
    return [*out, x]


def _reduce(rank: int, world_size: int) -> list[Any]:
    out = []
    for root in 0, world_size - 1:
        for op, length in (ReduceOp.MAX, 3), *((ReduceOp.AVG, length) for length in _lengths(world_size)):
            x = numbers(rank, length)
            dist.reduce(x, dst=root, op=op)
            out.append(x)
    return out


def _reduce_scatter(rank: int, world_size: int) -> list[Any]:
    out = []
    for length in 0, 1, 5, _LARGE:
        for op in ReduceOp.SUM, ReduceOp.AVG:
            mine = np.zeros(length)
            dist.reduce_scatter_tensor(mine, numbers(rank, length * world_size), op=op)
            listed = np.zeros(length)
            dist.reduce_scatter(listed, [numbers(rank + 31 * r, length) for r in range(world_size)], op=op)
            out += [mine, listed]
    return out


def _shapes(rank: int, world_size: int) -> list[Any]:
    """Without dimensions, without elements, strided, transposed, read through a view."""
    scalar, empty = np.array(rank + 0.1), np.zeros((3, 0))
    table = numbers(rank, 24).reshape(4, 6)
    for x in scalar, empty, table[:, ::2], table.T, table[1]:
        dist.all_reduce(x)
    return [scalar, empty, table]


def _algorithms(rank: int, world_size: int) -> list[Any]:
    """Every kind of collective once; the run says by which algorithm."""
    x, y = numbers(rank, 1001), numbers(rank, 1001)
    dist.all_reduce(x, op=ReduceOp.AVG)
    dist.reduce(y, dst=world_size - 1)
    z = numbers(rank, 777)
    dist.broadcast(z, src=world_size - 1)
    parts = [np.zeros(5) for _ in range(world_size)]
    dist.all_gather(parts, numbers(rank, 5))
    gathered = [np.zeros(4) for _ in range(world_size)] if rank == 0 else None
    dist.gather(numbers(rank, 4), gathered, dst=0)
    mine = np.zeros(3)
    dist.scatter(mine, [numbers(r, 3) for r in range(world_size)] if rank == 0 else None, src=0)
    exchanged = np.zeros(2 * world_size)
    dist.all_to_all_single(exchanged, numbers(rank, 2 * world_size))
    dist.barrier()
    return [x, y, z, *parts, *(gathered or ()), mine, exchanged]


def _choices() -> Iterator[dict[str, str]]:
    """Each algorithm that is not the usual one, together with those of other collectives."""
    others: dict[str, list[str]] = {}
    usual: set[str] = set()
    for name, row in ALGORITHMS.items():
        if row.collective in usual:
            others.setdefault(row.collective, []).append(name)
        usual.add(row.collective)
    for turn in range(max(map(len, others.values()), default=0)):
        yield {collective: names[turn] for collective, names in others.items() if turn < len(names)}


PROGRAMS: tuple[Program, ...] = (
    Program("all_reduce: every reduction, dtype and length", _all_reduce),
    Program("all_reduce: bitwise, and of multiples", _bits),
    Program("reduce", _reduce),
    Program("reduce_scatter, reduce_scatter_tensor", _reduce_scatter),
    Program("shapes: no dimension, no element, strided views", _shapes),
    *(
        Program(f"other algorithms ({turn})", _algorithms, {"algorithms": choice})
        for turn, choice in enumerate(_choices(), 1)
    ),
)
