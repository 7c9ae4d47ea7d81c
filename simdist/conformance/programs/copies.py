"""Do copies arrive where they belong, whole?"""

from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist

from .program import Program, numbers

__all__ = ["PROGRAMS"]

_LENGTHS = (0, 1, 7, 30_000)


def _broadcast(rank: int, world_size: int) -> list[Any]:
    out = []
    for root in 0, world_size - 1:
        for length in _LENGTHS:
            x = numbers(rank, length)
            dist.broadcast(x, src=root)
            out.append(x)
    return out


def _all_gather(rank: int, world_size: int) -> list[Any]:
    out = []
    for length in _LENGTHS:
        parts = [np.zeros(length) for _ in range(world_size)]
        dist.all_gather(parts, numbers(rank, length))
        whole = np.zeros((world_size, length), np.float32)
        dist.all_gather_into_tensor(whole, numbers(rank, length, np.float32))
        out += [*parts, whole]
    return out


def _gather_scatter(rank: int, world_size: int) -> list[Any]:
    out: list[Any] = []
    for root in 0, world_size - 1:
        for length in _LENGTHS:
            parts = [np.zeros(length) for _ in range(world_size)] if rank == root else None
            dist.gather(numbers(rank, length), parts, dst=root)
            mine = np.zeros(length)
            dist.scatter(mine, [numbers(r, length) for r in range(world_size)] if rank == root else None, src=root)
            out += [*(parts or ()), mine]
    return out


def _all_to_all(rank: int, world_size: int) -> list[Any]:
    """Equal blocks, then blocks of all sizes, some of them empty."""
    whole = np.zeros(3 * world_size)
    dist.all_to_all_single(whole, numbers(rank, 3 * world_size))
    sizes = [[(3 * s + d) % 4 for d in range(world_size)] for s in range(world_size)]
    incoming = [row[rank] for row in sizes]
    uneven = np.zeros((sum(incoming), 2))
    outgoing = numbers(rank, 2 * sum(sizes[rank])).reshape(-1, 2)
    dist.all_to_all_single(uneven, outgoing, output_split_sizes=incoming, input_split_sizes=sizes[rank])
    parts = [np.zeros(n) for n in incoming]
    dist.all_to_all(parts, [numbers(rank + d, n) for d, n in enumerate(sizes[rank])])
    large = np.zeros(20_000 * world_size)
    dist.all_to_all_single(large, numbers(rank, 20_000 * world_size))
    return [whole, uneven, *parts, large]


def _objects(rank: int, world_size: int) -> list[Any]:
    everybody: list[Any] = [None] * world_size
    dist.all_gather_object(everybody, {"rank": rank, "text": "ä" * rank})
    gathered: list[Any] | None = [None] * world_size if rank == 0 else None
    dist.gather_object((rank, "x" * 100 * rank), gathered, dst=0)
    told = [rank, "from", None] if rank == world_size - 1 else [None] * 3
    dist.broadcast_object_list(told, src=world_size - 1)
    mine: list[Any] = [None]
    dist.scatter_object_list(mine, [f"for {r}" for r in range(world_size)] if rank == 0 else None, src=0)
    return [everybody, gathered, told, mine]


def _barriers(rank: int, world_size: int) -> list[Any]:
    dist.barrier()
    dist.monitored_barrier(timeout=20.0)
    dist.barrier(async_op=True).wait()  # type: ignore[union-attr]
    return [rank]


PROGRAMS: tuple[Program, ...] = (
    Program("broadcast", _broadcast),
    Program("all_gather, all_gather_into_tensor", _all_gather),
    Program("gather, scatter", _gather_scatter),
    Program("all_to_all, all_to_all_single: equal, uneven and empty blocks", _all_to_all),
    Program("objects", _objects),
    Program("barrier, monitored_barrier", _barriers),
)
