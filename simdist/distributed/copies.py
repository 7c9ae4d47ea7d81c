"""What can the ranks of a group tell each other?

torch.distributed's collectives that copy without computing, and the barrier; p is the size of the group. What each
one means is written in ``comm.definitions``. With ``async_op=True`` they return a ``Work`` at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from simdist.errors import ShapeError
from simdist.tensor import MetaArray

from .array_list import one_per_rank, only_on_root
from .buffer import array_of, flatten, in_place, writeable
from .group import ProcessGroup
from .issue import enter, issue, root_of
from .loan import Lent
from .work import Work

__all__ = ["all_gather", "all_gather_into_tensor", "barrier", "broadcast", "gather", "scatter"]

_EMPTY = np.empty(0, dtype=np.uint8)


def broadcast(
    tensor: Any,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Every rank's ``tensor`` becomes that of rank ``src``.

    Args:
        tensor: array or Tensor of equal shape on all ranks; overwritten except on ``src``.
        src: global rank it comes from.
        group: None for the world.
        async_op: return a Work at once.
        group_src: the same as a group rank, instead of ``src``.
    """
    found = enter(group, "broadcast")
    if found is None:
        return None
    root = root_of(found, src, group_src, "broadcast", ("src", "group_src"))
    flat, shape, finish = in_place(tensor, "broadcast: tensor", async_op)
    lent: Lent = ((), (tensor,)) if found.members.rank == root else ((tensor,), ())
    return issue(found, "broadcast", flat, shape, None, finish, async_op, root=root, result=(tensor,), lent=lent)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """``output_tensor`` becomes all ranks' ``input_tensor`` one after the other, in rank order.

    Args:
        output_tensor: array of p n elements; overwritten.
        input_tensor: array of n elements, equal shape on all ranks.
        group: None for the world.
        async_op: return a Work at once.
    """
    found = enter(group, "all_gather_into_tensor")
    if found is None:
        return None
    target = writeable(output_tensor, "all_gather_into_tensor: output_tensor")
    source = array_of(input_tensor, "all_gather_into_tensor: input_tensor")
    if target.size != source.size * found.size() or target.dtype != source.dtype:
        raise ShapeError(
            f"rank {found.world.rank}: all_gather_into_tensor: output_tensor {target.shape} {target.dtype} must have "
            f"{found.size()} times as many elements as input_tensor {source.shape} {source.dtype}, and the same dtype."
        )

    def write(flat: Any) -> None:
        target[...] = flat.reshape(target.shape)

    return _all_gather(found, "all_gather_into_tensor", source, write, async_op, ((output_tensor,), (input_tensor,)))


def all_gather(
    tensor_list: Sequence[Any], tensor: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """``tensor_list[r]`` becomes rank r's ``tensor``.

    Args:
        tensor_list: p arrays of tensor's shape, none overlapping another; overwritten.
        tensor: array of equal shape on all ranks.
        group: None for the world.
        async_op: return a Work at once.
    """
    found = enter(group, "all_gather")
    if found is None:
        return None
    source = array_of(tensor, "all_gather: tensor")
    targets = one_per_rank(tensor_list, found, source.shape, source.dtype, "all_gather: tensor_list", write=True)

    def write(flat: Any) -> None:
        for rank, target in enumerate(targets):
            target[...] = flat[rank * source.size : (rank + 1) * source.size].reshape(source.shape)

    return _all_gather(found, "all_gather", source, write, async_op, (tensor_list, (tensor,)))


def _all_gather(
    group: ProcessGroup, name: str, source: Any, write: Callable[[Any], None], async_op: bool, lent: Lent
) -> Work | None:
    size, n = group.size(), source.size
    if isinstance(source, MetaArray):
        flat: Any = MetaArray((size * n,), source.dtype)
    else:
        flat = np.empty(size * n, source.dtype)
        flat[group.members.rank * n : (group.members.rank + 1) * n] = source.reshape(-1)
    return issue(group, name, flat, source.shape, None, lambda: write(flat), async_op, kind="all_gather", lent=lent)


def gather(
    tensor: Any,
    gather_list: Sequence[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """``gather_list[r]`` on rank ``dst`` becomes rank r's ``tensor``.

    Args:
        tensor: array of equal shape on all ranks.
        gather_list: on ``dst`` p arrays of tensor's shape, overwritten; elsewhere None.
        dst: global rank that gathers (default: global rank 0, as in torch).
        group: None for the world.
        async_op: return a Work at once.
        group_dst: the same as a group rank, instead of ``dst``.
    """
    found = enter(group, "gather")
    if found is None:
        return None
    root = root_of(found, 0 if dst is None and group_dst is None else dst, group_dst, "gather", ("dst", "group_dst"))
    source = array_of(tensor, "gather: tensor")
    flat, _ = flatten(source, copy=True)
    targets = only_on_root(found, root, gather_list, source, "gather", "gather_list", "dst", write=True)
    parts = {found.members.rank: flat}
    if targets is not None:
        parts = {rank: flat if rank == root else np.empty_like(flat) for rank in range(found.size())}

    def finish() -> None:
        for rank, target in enumerate(targets or ()):
            target[...] = parts[rank].reshape(source.shape)

    return issue(
        found, "gather", flat, source.shape, None, finish, async_op, root=root, copies=found.size(), parts=parts,
        lent=(gather_list or (), (tensor,)),
    )  # fmt: skip


def scatter(
    tensor: Any,
    scatter_list: Sequence[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Rank r's ``tensor`` becomes ``scatter_list[r]`` of rank ``src``.

    Args:
        tensor: array; overwritten.
        scatter_list: on ``src`` p arrays of tensor's shape; elsewhere None.
        src: global rank that scatters (default: global rank 0, as in torch).
        group: None for the world.
        async_op: return a Work at once.
        group_src: the same as a group rank, instead of ``src``.
    """
    found = enter(group, "scatter")
    if found is None:
        return None
    root = root_of(found, 0 if src is None and group_src is None else src, group_src, "scatter", ("src", "group_src"))
    target = writeable(tensor, "scatter: tensor")
    sources = only_on_root(found, root, scatter_list, target, "scatter", "scatter_list", "src", write=False)
    me = found.members.rank
    flat = flatten(target if sources is None else sources[me], copy=True)[0]
    parts = {me: flat}
    if sources is not None:
        parts |= {r: flatten(source, copy=True)[0] for r, source in enumerate(sources) if r != me}

    def finish() -> None:
        target[...] = flat.reshape(target.shape)

    return issue(
        found, "scatter", flat, target.shape, None, finish, async_op, root=root, copies=found.size(), parts=parts,
        lent=((tensor,), scatter_list or ()),
    )  # fmt: skip


def barrier(
    group: ProcessGroup | None = None,
    async_op: bool = False,
    device_ids: object = None,
    timeout: float | timedelta | None = None,
) -> Work | None:
    """Return when every rank of the group has called it.

    Args:
        group: None for the world.
        async_op: return a Work at once.
        device_ids: accepted for torch's sake.
        timeout: limit in seconds of the backend's clock, or a ``timedelta``; None: the group's, or the run's.

    Raises:
        DistTimeoutError: it took longer than the timeout.
    """
    found = enter(group, "barrier")
    if found is None:
        return None
    if timeout is not None and not async_op:
        work = issue(found, "barrier", _EMPTY.copy(), async_op=True)
        assert work is not None
        work.wait(timeout)
        return None
    return issue(found, "barrier", _EMPTY.copy(), async_op=async_op)
