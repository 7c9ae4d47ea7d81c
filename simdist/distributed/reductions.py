"""What can the ranks of a group compute together?

torch.distributed's reductions, on numpy arrays and Tensors, in place as in torch; p is the size of the group. What
each one means is written in ``comm.definitions``. With ``async_op=True`` they return a ``Work`` at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from simdist.comm.algorithm import ALGORITHMS
from simdist.comm.reduce_op import ReduceOp
from simdist.errors import ShapeError

from .array_list import as_list
from .buffer import array_of, flatten, in_place, writeable
from .group import ProcessGroup
from .issue import enter, issue, root_of
from .loan import Lent
from .work import Work

__all__ = ["all_reduce", "launch_all_reduce", "reduce", "reduce_scatter", "reduce_scatter_tensor"]


def all_reduce(
    tensor: Any, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Every rank's ``tensor`` becomes the reduction of all ranks' tensors. All ranks end with the same bits.

    Args:
        tensor: array or Tensor of any shape, equal on all ranks; overwritten.
        op: how to combine.
        group: None for the world.
        async_op: return a Work at once.

    Raises:
        TypeError, ValueError, GradientError: not an array, read-only, on the tape; AVG of integers.
        CollectiveMismatchError: the ranks' calls differ (checked runs).
    """
    found = enter(group, "all_reduce")
    if found is None:
        return None
    flat, shape, finish = in_place(tensor, "all_reduce: tensor", async_op)
    return issue(found, "all_reduce", flat, shape, op, finish, async_op, result=(tensor,), lent=((tensor,), ()))


def launch_all_reduce(buffer: Any, group: ProcessGroup) -> Work:
    """Start to sum a buffer that is the library's own: nobody can touch it, so nothing guards it."""
    flat, shape, finish = in_place(buffer, "all_reduce: tensor", True)
    work = issue(group, "all_reduce", flat, shape, ReduceOp.SUM, finish, True, result=(buffer,))
    assert work is not None
    return work


def reduce(
    tensor: Any,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """The tensor of rank ``dst`` becomes the reduction of all ranks' tensors; the other ranks' stay as they are.

    Args:
        tensor: array or Tensor of any shape, equal on all ranks; overwritten on ``dst``.
        dst: global rank that gets the result.
        op: how to combine.
        group: None for the world.
        async_op: return a Work at once.
        group_dst: the same as a group rank, instead of ``dst``.
    """
    found = enter(group, "reduce")
    if found is None:
        return None
    root = root_of(found, dst, group_dst, "reduce", ("dst", "group_dst"))
    array = writeable(tensor, "reduce: tensor")
    flat, _ = flatten(array, copy=True)

    def finish() -> None:
        if found.members.rank == root:
            array[...] = flat.reshape(array.shape)

    lent: Lent = ((tensor,), ()) if found.members.rank == root else ((), (tensor,))
    return issue(found, "reduce", flat, array.shape, op, finish, async_op, root=root, result=(tensor,), lent=lent)


def reduce_scatter_tensor(
    output: Any, input: Any, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Rank r's ``output`` becomes the r-th part of the reduction of all ranks' ``input``.

    Args:
        output: array of n elements; overwritten.
        input: array of p n elements: the part for rank r is its r-th n elements in row-major order.
        op: how to combine.
        group: None for the world.
        async_op: return a Work at once.
    """
    found = enter(group, "reduce_scatter_tensor")
    if found is None:
        return None
    target = writeable(output, "reduce_scatter_tensor: output")
    source = array_of(input, "reduce_scatter_tensor: input")
    if source.size != target.size * found.size():
        raise ShapeError(
            f"rank {found.world.rank}: reduce_scatter_tensor: input {source.shape} must have {found.size()} times as many "
            f"elements as output {target.shape}: one part for each of the {found.size()} ranks."
        )
    lent: Lent = ((output,), (input,))
    return _reduce_scatter(found, "reduce_scatter_tensor", target, source, source.shape, op, async_op, lent)


def reduce_scatter(
    output: Any,
    input_list: Sequence[Any],
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Rank r's ``output`` becomes the reduction of all ranks' ``input_list[r]``.

    Args:
        output: array; overwritten.
        input_list: p arrays; the own one has output's shape, the others their rank's output's.
        op: how to combine.
        group: None for the world.
        async_op: return a Work at once.
    """
    found = enter(group, "reduce_scatter")
    if found is None:
        return None
    target = writeable(output, "reduce_scatter: output")
    parts = as_list(input_list, found, "reduce_scatter: input_list", write=False)
    me = found.members.rank
    for i, part in enumerate(parts):
        if part.dtype != target.dtype or (i == me and part.shape != target.shape):
            raise ShapeError(
                f"rank {found.world.rank}: reduce_scatter: input_list[{i}] is {part.shape} {part.dtype}, expected "
                f"{target.shape if i == me else ''} {target.dtype}, as output."
            )
    source = np.concatenate([part.reshape(-1) for part in parts])
    lent: Lent = ((output,), input_list)
    if all(part.shape == target.shape for part in parts):
        return _reduce_scatter(found, "reduce_scatter", target, source, target.shape, op, async_op, lent)
    sizes = tuple([part.size for part in parts])
    return _reduce_scatter(
        found, "reduce_scatter", target, source, sizes, op, async_op, lent, tuple(accumulate(sizes, initial=0))
    )


def _reduce_scatter(
    group: ProcessGroup,
    name: str,
    target: Any,
    source: Any,
    shape: tuple[int, ...],
    op: ReduceOp,
    async_op: bool,
    lent: Lent,
    cuts: tuple[int, ...] | None = None,
) -> Work | None:
    """Reduce ``source`` and keep the own part. Parts of different sizes go round a ring."""
    if source.dtype != target.dtype:
        raise ShapeError(f"rank {group.world.rank}: {name}: output is {target.dtype}, input is {source.dtype}.")
    flat, _ = flatten(source, copy=True)
    own = cuts[group.members.rank] if cuts else group.members.rank * target.size
    algorithm = ALGORITHMS["ring_reduce_scatter"] if cuts else None

    def finish() -> None:
        target[...] = flat[own : own + target.size].reshape(target.shape)

    return issue(
        group, name, flat, shape, op, finish, async_op, kind="reduce_scatter", cuts=cuts, algorithm=algorithm, result=(target,),
        lent=lent,
    )  # fmt: skip
