"""Do groups keep apart, asynchronous operations in order, and stores what they are given?"""

from __future__ import annotations

import shutil
import tempfile
from typing import Any

import numpy as np

import simdist.distributed as dist

from .program import Program, numbers

__all__ = ["PROGRAMS"]


def _two_at_once(rank: int, world_size: int) -> list[Any]:
    """Two overlapping groups are busy at the same time, the second one's operations waited for first."""
    lower = dist.new_group(range(world_size - 1) if world_size > 1 else [0])
    upper = dist.new_group(range(min(1, world_size - 1), world_size))
    out, works = [], []
    for turn in range(3):
        for group in lower, upper:
            if group.rank() >= 0:
                x = numbers(rank + 10 * turn, 5000)
                work = dist.all_reduce(x, group=group, async_op=True)
                assert work is not None
                out.append(x)
                works.append(work)
    for work in reversed(works):
        work.wait()
    return out


def _halves(rank: int, world_size: int) -> list[Any]:
    """Both halves do different things; then the world meets again. Roots are global ranks, and positions."""
    even = dist.new_group(range(0, world_size, 2))
    odd = dist.new_group(range(1, world_size, 2)) if world_size > 1 else even
    mine = even if rank % 2 == 0 else odd
    x, last = numbers(rank, 12), mine.size() - 1
    dist.broadcast(x, group_src=last, group=mine)
    y = numbers(rank, 12)
    dist.reduce(y, dst=dist.get_global_rank(mine, last), group=mine)
    got: list[Any] = [np.zeros(3) for _ in range(mine.size())]
    dist.all_gather(got, numbers(rank, 3), group=mine)
    dist.all_reduce(x)
    return [x, y, *got, dist.get_rank(mine), dist.get_process_group_ranks(mine)]


def _divided(rank: int, world_size: int) -> list[Any]:
    part, parts = dist.new_subgroups(world_size // 2 if world_size % 2 == 0 else 1)
    split = dist.split_group(split_ranks=[[r] for r in range(1, world_size)] + [[0]])
    local = dist.new_group([0, world_size - 1] if world_size > 1 else [0], use_local_synchronization=True)
    assert split is not None
    out = [numbers(rank, 4) for _ in range(3)]
    dist.all_reduce(out[0], group=part)
    dist.all_reduce(out[1], group=split)
    if rank in (0, world_size - 1):
        dist.all_reduce(out[2], group=local)
    return [*out, len(parts), split.size()]


def _messages(rank: int, world_size: int) -> list[Any]:
    """Equal tags in two groups are different tags."""
    both = [dist.new_group([0, 1]), dist.new_group([0, 1])]
    got = [np.zeros(4), np.zeros(4)]
    if rank == 0:
        for work in [dist.isend(numbers(i, 4), dst=1, group=group, tag=5) for i, group in enumerate(both)]:
            work.wait()
    elif rank == 1:
        for i in 1, 0:
            dist.recv(got[i], src=0, group=both[i], tag=5)
    return got


def _asynchronous(rank: int, world_size: int) -> list[Any]:
    """Many operations are under way; they are asked for, waited for in another order, and followed by a blocking one."""
    arrays = [numbers(rank + i, 100 * i) for i in range(12)]
    works = [dist.all_reduce(x, async_op=True) for x in arrays]
    last = numbers(rank, 10)
    dist.all_reduce(last)
    for work in works[::-2] + works:
        assert work is not None
        work.wait()
    gathered = np.zeros(3 * world_size)
    work = dist.all_gather_into_tensor(gathered, numbers(rank, 3), async_op=True)
    assert work is not None
    while not work.is_completed():
        continue
    return [*arrays, last, gathered]


def _futures(rank: int, world_size: int) -> list[Any]:
    x = numbers(rank, 8)
    work = dist.all_reduce(x, async_op=True)
    assert work is not None
    doubled = work.get_future().then(lambda future: 2 * future.value()[0])
    return [doubled.wait(), x, work.is_success()]


def _stores(rank: int, world_size: int) -> list[Any]:
    """Who listens tells the others where; then all keep and wait for keys."""
    where: list[Any] = [None]
    if rank == 0:
        store = dist.TCPStore("127.0.0.1", 0, is_master=True)
        where = [store.port]
    dist.broadcast_object_list(where, src=0)
    if rank:
        store = dist.TCPStore("127.0.0.1", where[0])
    notes = dist.PrefixStore("notes", store)
    if rank == world_size - 1:
        notes.set("last", f"from rank {rank}")
    told = [notes.get("last"), store.add("came", 1) <= world_size]
    dist.barrier()
    told += [store.add("came", 0), store.check(["notes/last"]), store.check(["nothing"])]
    dist.barrier()
    return told


def _stores_on_disk(rank: int, world_size: int) -> list[Any]:
    """A file that all ranks open; in simulation its name is enough."""
    where: list[Any] = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(where, src=0)
    store = dist.FileStore(f"{where[0]}/notes", world_size)
    store.set(f"from {rank}", "x" * rank)
    told: list[Any] = [store.get(f"from {peer}") for peer in range(world_size)]
    store.add("came", 1)
    dist.barrier()
    told.append(store.add("came", 0))
    dist.barrier()
    del store
    dist.barrier()
    if rank == 0:
        shutil.rmtree(where[0])
    return told


PROGRAMS: tuple[Program, ...] = (
    Program("groups: two at once, overlapping", _two_at_once),
    Program("groups: halves", _halves),
    Program("groups: new_subgroups, split_group, made locally", _divided),
    Program("groups: messages", _messages, least=2),
    Program("asynchronous: order", _asynchronous),
    Program("asynchronous: futures", _futures),
    Program("stores: over the network", _stores),
    Program("stores: on a disk", _stores_on_disk),
)
