"""Do messages arrive at the receive that is meant, in order, and whole?"""

from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist
from simdist.errors import DistTimeoutError

from .program import Program, numbers

__all__ = ["PROGRAMS"]

_LARGE = 50_000
_MANY = 60


def _lengths(rank: int, world_size: int) -> list[Any]:
    """Around the ring, from nothing to more than fits anywhere; both directions at once."""
    right, left = (rank + 1) % world_size, (rank - 1) % world_size
    out = []
    for length in 0, 1, 8191, 8193, _LARGE, 400_000:
        there, back = np.zeros(length), np.zeros(length)
        works = [dist.irecv(there, src=left, tag=1), dist.irecv(back, src=right, tag=2)]
        works += [dist.isend(numbers(rank, length), dst=right, tag=1)]
        works += [dist.isend(numbers(rank + 1, length), dst=left, tag=2)]
        for work in works:
            work.wait()
        out += [there, back]
    return out


def _order(rank: int, world_size: int) -> list[Any]:
    """Many messages of one tag, small and large in turn, are received in the order in which they were sent."""
    lengths = [_LARGE if i % 7 == 3 else i for i in range(_MANY)]
    if rank == 0:
        for work in [dist.isend(numbers(i, length), dst=1) for i, length in enumerate(lengths)]:
            work.wait()
    elif rank == 1:
        out = [np.zeros(length) for length in lengths]
        for array in out:
            dist.recv(array, src=0)
        return out
    return []


def _tags(rank: int, world_size: int) -> list[Any]:
    """Messages are received in another order than they were sent, chosen by their tags."""
    lengths = {tag: _LARGE if tag == 3 else 2 * tag for tag in range(6)}
    if rank == 0:
        for work in [dist.isend(numbers(tag, lengths[tag]), dst=1, tag=tag) for tag in range(6)]:
            work.wait()
    elif rank == 1:
        out = {tag: np.zeros(lengths[tag]) for tag in (4, 3, 0, 5, 2, 1)}
        for tag, array in out.items():
            dist.recv(array, src=0, tag=tag)
        return list(out.values())
    return []


def _any_source(rank: int, world_size: int) -> list[Any]:
    """Rank 0 takes from whoever comes; who came when is not compared."""
    out: list[Any] = []
    for length in 3, _LARGE:
        came = []
        if rank:
            dist.send(numbers(rank, length), dst=0, tag=length)
        for _ in range(world_size - 1 if rank == 0 else 0):
            x = np.zeros(length)
            came.append((dist.recv(x, tag=length), x))
        out += sorted(came, key=lambda pair: pair[0])
        dist.barrier()
    return out


def _any_source_and_tags(rank: int, world_size: int) -> list[Any]:
    """A receive from any source does not take a message with another tag."""
    if rank == 1:
        works = [dist.isend(numbers(tag, 4), dst=0, tag=tag) for tag in (1, 2)]
        for work in works:
            work.wait()
    if rank:
        return []
    second, first = np.zeros(4), np.zeros(4)
    posted = dist.irecv(second, tag=2)
    dist.recv(first, tag=1)
    posted.wait()
    return [first, second, posted.source_rank()]


def _batch(rank: int, world_size: int) -> list[Any]:
    got = {peer: np.zeros(6 + peer) for peer in range(world_size) if peer != rank}
    posts = [dist.P2POp(dist.isend, numbers(rank, 6 + rank), peer) for peer in got]
    posts += [dist.P2POp(dist.irecv, array, peer) for peer, array in got.items()]
    for work in dist.batch_isend_irecv(posts) if posts else ():
        work.wait()
    return list(got.values())


def _objects(rank: int, world_size: int) -> list[Any]:
    told: list[Any] = [None, None]
    if rank == 0:
        dist.send_object_list([{"a": 1}, "x" * 70_000], dst=1)
    elif rank == 1:
        dist.recv_object_list(told, src=0)
    return told


def _own_buffers(rank: int, world_size: int) -> list[Any]:
    """A sent array may be changed when the send is complete; a received one is one's own."""
    x = np.full(20_000, float(rank))
    got = np.zeros_like(x)
    for turn in range(3):
        arriving = dist.irecv(got, src=(rank - 1) % world_size, tag=turn)
        dist.isend(x, dst=(rank + 1) % world_size, tag=turn).wait()
        x += 1000.0
        arriving.wait()
        x += got
        got[:] = -1.0
    return [x]


def _waits(rank: int, world_size: int) -> list[Any]:
    """A wait that was given up can be begun again; asking changes nothing."""
    x = np.zeros(3)
    told: list[Any] = []
    if rank == 0:
        work = dist.irecv(x, src=1, tag=9)
        try:
            work.wait(0.02)
        except DistTimeoutError:
            told.append("late")
        told.append(work.is_completed())
        dist.send(np.ones(1), dst=1, tag=8)
        work.wait()
        told.append(work.is_completed())
    elif rank == 1:
        dist.recv(np.zeros(1), src=0, tag=8)
        dist.send(numbers(1, 3), dst=0, tag=9)
    return [told, x]


def _sends_first(rank: int, world_size: int) -> list[Any]:
    """With an eager limit small sends do not wait for their receives."""
    x = np.zeros(5)
    dist.send(numbers(rank, 5), dst=(rank + 1) % world_size)
    dist.recv(x, src=(rank - 1) % world_size)
    return [x]


PROGRAMS: tuple[Program, ...] = (
    Program("messages: lengths", _lengths, least=2),
    Program("messages: order", _order, least=2),
    Program("messages: tags", _tags, least=2),
    Program("messages: any source", _any_source, least=2),
    Program("messages: any source and tags", _any_source_and_tags, least=2),
    Program("messages: batch_isend_irecv", _batch),
    Program("messages: objects", _objects, least=2),
    Program("messages: whose buffers", _own_buffers, least=2),
    Program("messages: waits", _waits, least=2),
    Program("messages: eager_limit", _sends_first, {"eager_limit": 1 << 16}, least=2),
    Program("messages: not checked", _lengths, {"checked": False}, least=2),
)
