"""Which mistakes must a backend refuse, and in which words?

None of these programs may come to an end on all ranks, and none may wait for ever.
"""

from __future__ import annotations

import numpy as np

import simdist.distributed as dist
from simdist.errors import CollectiveMismatchError, DeadlockError, DistTimeoutError, MessageMismatchError

from .program import Mistake

__all__ = ["LIMIT", "MISTAKES"]

LIMIT = 0.5
"""Seconds of the backend's clock that a wait may take in a program that waits in vain."""

_IN_VAIN = (DeadlockError, DistTimeoutError)
_HERE = r"mistakes\.py:\d+"


def _raises(rank: int, world_size: int) -> None:
    if rank == world_size - 1:
        raise LookupError("no luck")
    dist.barrier()


def _raises_while_others_compute(rank: int, world_size: int) -> None:
    if rank == 0:
        raise LookupError("no luck")
    for turn in range(10**7 if dist.get_backend() != "sim" else 1):
        rank += turn


def _other_collective(rank: int, world_size: int) -> None:
    if rank == 1:
        dist.broadcast(np.ones(4), src=0)
    else:
        dist.all_reduce(np.ones(4))


def _other_shape(rank: int, world_size: int) -> None:
    dist.all_reduce(np.ones(4 + (rank == 1)))


def _other_dtype(rank: int, world_size: int) -> None:
    dist.all_reduce(np.ones(4, np.float32 if rank == 1 else np.float64))


def _other_reduction(rank: int, world_size: int) -> None:
    dist.all_reduce(np.ones(4), op=dist.ReduceOp.MAX if rank == 1 else dist.ReduceOp.SUM)


def _other_root(rank: int, world_size: int) -> None:
    dist.broadcast(np.ones(4), src=int(rank == 1))


def _other_groups(rank: int, world_size: int) -> None:
    dist.new_group([0] if rank == 1 else [1])


def _one_collective_less(rank: int, world_size: int) -> None:
    for _ in range(2 if rank == 1 else 3):
        dist.all_reduce(np.ones(4))


def _other_size(rank: int, world_size: int) -> None:
    if rank == 0:
        dist.send(np.ones(3), dst=1)
    elif rank == 1:
        dist.recv(np.ones(4), src=0)


def _other_message_dtype(rank: int, world_size: int) -> None:
    if rank == 0:
        dist.send(np.ones(3, np.int64), dst=1)
    elif rank == 1:
        dist.recv(np.ones(3), src=0)


def _nobody_sends(rank: int, world_size: int) -> None:
    if rank == 0:
        dist.recv(np.ones(3), src=1)
    else:
        dist.recv(np.ones(3), src=0)


def _both_send_first(rank: int, world_size: int) -> None:
    if rank < 2:
        dist.send(np.ones(1), dst=1 - rank)
        dist.recv(np.ones(1), src=1 - rank)


def _has_returned(rank: int, world_size: int) -> None:
    if rank == 0:
        dist.recv(np.ones(3), src=1)


def _other_tag(rank: int, world_size: int) -> None:
    if rank == 0:
        dist.send(np.ones(3), dst=1, tag=7)
    elif rank == 1:
        dist.recv(np.ones(3), src=0, tag=8)


def _does_not_come(rank: int, world_size: int) -> None:
    if rank != 1:
        dist.monitored_barrier(timeout=LIMIT / 2)
    else:
        dist.recv(np.ones(1), src=0, tag=1)


MISTAKES: tuple[Mistake, ...] = (
    Mistake("mistake: a rank raises", _raises, (LookupError,), ("no luck", r"rank \d+")),
    Mistake(
        "mistake: a rank raises, the others compute",
        _raises_while_others_compute,
        (LookupError,),
        ("no luck", "rank 0"),
    ),
    Mistake(
        "mistake: another collective",
        _other_collective,
        (CollectiveMismatchError,),
        (rf"broadcast of \(4,\) float64, root 0.*{_HERE}|{_HERE}.*broadcast", r"all_reduce of \(4,\) float64, SUM"),
    ),
    Mistake("mistake: another shape", _other_shape, (CollectiveMismatchError,), (r"\(4,\)", r"\(5,\)", _HERE)),
    Mistake("mistake: another dtype", _other_dtype, (CollectiveMismatchError,), ("float32", "float64", _HERE)),
    Mistake("mistake: another reduction", _other_reduction, (CollectiveMismatchError,), ("MAX", "SUM", _HERE)),
    Mistake(
        "mistake: another root",
        _other_root,
        (CollectiveMismatchError, *_IN_VAIN),
        ("root 0", "root 1", _HERE),
        {"timeout": LIMIT},
    ),
    Mistake("mistake: other groups", _other_groups, (CollectiveMismatchError,), (r"\[0\]", r"\[1\]", _HERE)),
    Mistake("mistake: one collective less", _one_collective_less, _IN_VAIN, ("all_reduce", _HERE)),
    Mistake("mistake: a message of another size", _other_size, (MessageMismatchError,), (r"\(3,\)", r"\(4,\)", _HERE)),
    Mistake(
        "mistake: a message of another dtype",
        _other_message_dtype,
        (MessageMismatchError,),
        ("int64", "float64", _HERE),
    ),
    Mistake("mistake: nobody sends", _nobody_sends, _IN_VAIN, ("rank 0", "rank 1", _HERE), {"timeout": LIMIT}),
    Mistake("mistake: both send first", _both_send_first, _IN_VAIN, ("rank 0", "rank 1", _HERE), {"timeout": LIMIT}),
    Mistake("mistake: the other rank has returned", _has_returned, _IN_VAIN, ("rank 0", _HERE), {"timeout": 60.0}),
    Mistake("mistake: another tag", _other_tag, _IN_VAIN, ("tag 7", "tag 8", _HERE), {"timeout": LIMIT}),
    Mistake("mistake: a rank does not come to a barrier", _does_not_come, (DistTimeoutError,), ("rank 1",)),
)
