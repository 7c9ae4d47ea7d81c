"""What can all ranks of a group do together?

torch.distributed's collectives, on numpy arrays and Tensors, in place as in torch. Each function checks its
arguments, makes a ``comm.Call`` (which group, which algorithm, which buffer) and hands it to the rank's backend; with
``async_op=True`` it returns a ``Work`` at once. A rank that is no member of the group gets None and changes nothing.

What each one means is written in ``comm.definitions``; shapes are given with each function, p is the size of the group.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simdist import place
from simdist.backends import context
from simdist.comm.algorithm import DEFAULT
from simdist.comm.call import Call, Request
from simdist.comm.chunks import bounds
from simdist.comm.reduce_op import ReduceOp
from simdist.errors import ShapeError
from simdist.tensor import MetaArray

from .buffer import array_of, flatten, writeable
from .group import NOT_A_MEMBER, ProcessGroup, default_group, get_group_rank
from .work import Work

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_reduce", "barrier", "broadcast", "gather", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "scatter",
]  # fmt: skip

_EMPTY = np.empty(0, dtype=np.uint8)


# -- what every collective needs ------------------------------------------------------------------------------------------


def _enter(group: ProcessGroup | None, what: str) -> ProcessGroup | None:
    """The group, or None (with a warning) if the current rank is no member."""
    if group is None:
        world = context.current() or context.require(what)
        found = world.state.get("group")
        return found if found is not None else default_group(world)
    if group.members.rank == NOT_A_MEMBER:
        warnings.warn(
            f"rank {group.world.rank} calls {what} on {group!r}, of which it is no member: nothing happens.",
            stacklevel=3,
        )
        return None
    return group


def _root(group: ProcessGroup, rank: int | None, group_rank: int | None, what: str, names: tuple[str, str]) -> int:
    """The group rank of the root, given as a global or as a group rank."""
    if (rank is None) == (group_rank is None):
        raise ValueError(
            f"{what}: give either {names[0]} (a global rank) or {names[1]} (a group rank), not both or none."
        )
    if group_rank is not None:
        if not 0 <= group_rank < group.size():
            raise ValueError(f"{what}: {names[1]}={group_rank}, but {group!r} has {group.size()} ranks.")
        return group_rank
    assert rank is not None
    if rank not in group.members.ranks:
        raise ValueError(
            f"{what}: {names[0]}={rank} is not in {group!r}. {names[0]} is a global rank; for a position in the group "
            f"use {names[1]}."
        )
    return get_group_rank(group, rank)


def _reduction(op: ReduceOp, dtype: np.dtype[Any], what: str) -> ReduceOp:
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{what}: op must be a ReduceOp (ReduceOp.SUM, ...), got {op!r}.")
    if op is ReduceOp.AVG and dtype.kind not in "fc":
        raise ValueError(
            f"{what}: ReduceOp.AVG of {dtype} is not a whole number; reduce with SUM and divide, or convert to float."
        )
    return op


def _issue(
    group: ProcessGroup,
    name: str,
    flat: Any,
    *,
    kind: str | None = None,
    root: int | None = None,
    shape: tuple[int, ...] | None = None,
    op: ReduceOp | None = None,
    nbytes: int = 0,
    parts: dict[int, Any] | None = None,
    finish: Callable[[], None] | None = None,
    async_op: bool = False,
) -> Work | None:
    """Make the call and hand it to the backend.

    Args:
        group: who.
        name: torch's name of the collective.
        flat: the work buffer.
        kind: which row of the algorithm table does it, if it is not ``name``.
        root: group rank of the root, if there is one.
        shape: what all ranks must agree on.
        op: the reduction, if there is one.
        nbytes: size of the payload.
        parts: chunk number -> array, where chunks are not slices of ``flat``.
        finish: writes the result into the caller's arrays.
        async_op: return a Work at once.
    """
    key = (name, shape, flat.dtype, flat.size, op, root)
    request = group.requests.get(key)
    if request is None:
        request = group.requests[key] = _request(group, name, kind or name, flat, root, shape, op, nbytes)
    sequence = group.sequence
    group.sequence = sequence + 1
    world = group.world
    inner = world.collective(Call(request, sequence, flat, place.caller(), parts), async_op)
    if async_op:
        return Work(world, inner, finish)
    if finish is not None:
        finish()
    return None


def _request(
    group: ProcessGroup, name: str, kind: str, flat: Any, root: int | None, shape: Any, op: ReduceOp | None, nbytes: int
) -> Request:
    """What is asked, as a value that all calls alike share."""
    members, size = group.members, group.size()
    algorithm = DEFAULT[kind]
    signature = (
        name,
        shape,
        flat.dtype if shape is not None else None,
        op.name if op is not None else None,
        members.ranks[root] if root is not None else None,
    )
    return Request(
        name,
        members,
        algorithm,
        root or 0,
        None if algorithm.whole else bounds(flat.size, size),
        op.combine if op is not None else None,
        size if op is ReduceOp.AVG else 0,
        signature,
        nbytes,
    )


# -- reductions -------------------------------------------------------------------------------------------------------------


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
    found = _enter(group, "all_reduce")
    if found is None:
        return None
    array = writeable(tensor, "all_reduce: tensor")
    op = _reduction(op, array.dtype, "all_reduce")
    flat, shared = flatten(array, async_op)

    def finish() -> None:
        array[...] = flat.reshape(array.shape)

    return _issue(
        found, "all_reduce", flat, shape=array.shape, op=op, nbytes=array.nbytes, async_op=async_op,
        finish=None if shared else finish,
    )  # fmt: skip


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
    found = _enter(group, "reduce")
    if found is None:
        return None
    root = _root(found, dst, group_dst, "reduce", ("dst", "group_dst"))
    array = writeable(tensor, "reduce: tensor")
    op = _reduction(op, array.dtype, "reduce")
    flat, _ = flatten(array, copy=True)

    def finish() -> None:
        if found.members.rank == root:
            array[...] = flat.reshape(array.shape)

    return _issue(
        found, "reduce", flat, root=root, shape=array.shape, op=op, nbytes=array.nbytes, finish=finish,
        async_op=async_op,
    )  # fmt: skip


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
    found = _enter(group, "reduce_scatter_tensor")
    if found is None:
        return None
    target = writeable(output, "reduce_scatter_tensor: output")
    source = array_of(input, "reduce_scatter_tensor: input")
    if source.size != target.size * found.size():
        raise ShapeError(
            f"rank {found.world.rank}: reduce_scatter_tensor: input {source.shape} must have {found.size()} times as many "
            f"elements as output {target.shape}: one part for each of the {found.size()} ranks."
        )
    return _reduce_scatter(found, "reduce_scatter_tensor", target, source, source.shape, op, async_op)


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
        input_list: p arrays of output's shape.
        op: how to combine.
        group: None for the world.
        async_op: return a Work at once.
    """
    found = _enter(group, "reduce_scatter")
    if found is None:
        return None
    target = writeable(output, "reduce_scatter: output")
    parts = _parts(input_list, found, target.shape, target.dtype, "reduce_scatter: input_list", write=False)
    source = np.concatenate([part.reshape(-1) for part in parts])
    return _reduce_scatter(found, "reduce_scatter", target, source, target.shape, op, async_op)


def _reduce_scatter(
    group: ProcessGroup, name: str, target: Any, source: Any, shape: tuple[int, ...], op: ReduceOp, async_op: bool
) -> Work | None:
    op = _reduction(op, source.dtype, name)
    if source.dtype != target.dtype:
        raise ShapeError(f"rank {group.world.rank}: {name}: output is {target.dtype}, input is {source.dtype}.")
    flat, _ = flatten(source, copy=True)
    own = group.members.rank * target.size

    def finish() -> None:
        target[...] = flat[own : own + target.size].reshape(target.shape)

    return _issue(
        group,
        name,
        flat,
        kind="reduce_scatter",
        shape=shape,
        op=op,
        nbytes=flat.nbytes,
        finish=finish,
        async_op=async_op,
    )


# -- copies -----------------------------------------------------------------------------------------------------------------


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
    found = _enter(group, "broadcast")
    if found is None:
        return None
    root = _root(found, src, group_src, "broadcast", ("src", "group_src"))
    array = writeable(tensor, "broadcast: tensor")
    flat, shared = flatten(array, async_op)

    def finish() -> None:
        array[...] = flat.reshape(array.shape)

    return _issue(
        found, "broadcast", flat, root=root, shape=array.shape, nbytes=array.nbytes, async_op=async_op,
        finish=None if shared else finish,
    )  # fmt: skip


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
    found = _enter(group, "all_gather_into_tensor")
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

    return _all_gather(found, "all_gather_into_tensor", source, write, async_op)


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
    found = _enter(group, "all_gather")
    if found is None:
        return None
    source = array_of(tensor, "all_gather: tensor")
    targets = _parts(tensor_list, found, source.shape, source.dtype, "all_gather: tensor_list", write=True)

    def write(flat: Any) -> None:
        for rank, target in enumerate(targets):
            target[...] = flat[rank * source.size : (rank + 1) * source.size].reshape(source.shape)

    return _all_gather(found, "all_gather", source, write, async_op)


def _all_gather(
    group: ProcessGroup, name: str, source: Any, write: Callable[[Any], None], async_op: bool
) -> Work | None:
    size, n = group.size(), source.size
    if isinstance(source, MetaArray):
        flat: Any = MetaArray((size * n,), source.dtype)
    else:
        flat = np.empty(size * n, source.dtype)
        flat[group.members.rank * n : (group.members.rank + 1) * n] = source.reshape(-1)
    return _issue(
        group, name, flat, kind="all_gather", shape=source.shape, nbytes=flat.nbytes, async_op=async_op,
        finish=lambda: write(flat),
    )  # fmt: skip


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
    found = _enter(group, "gather")
    if found is None:
        return None
    root = _root(found, 0 if dst is None and group_dst is None else dst, group_dst, "gather", ("dst", "group_dst"))
    source = array_of(tensor, "gather: tensor")
    flat, _ = flatten(source, copy=True)
    targets = _only_on_root(found, root, gather_list, source, "gather", "gather_list", "dst", write=True)
    parts = {found.members.rank: flat}
    if targets is not None:
        parts = {rank: flat if rank == root else np.empty_like(flat) for rank in range(found.size())}

    def finish() -> None:
        for rank, target in enumerate(targets or ()):
            target[...] = parts[rank].reshape(source.shape)

    return _issue(
        found, "gather", flat, root=root, shape=source.shape, nbytes=source.nbytes * found.size(),
        parts=parts, finish=finish, async_op=async_op,
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
    found = _enter(group, "scatter")
    if found is None:
        return None
    root = _root(found, 0 if src is None and group_src is None else src, group_src, "scatter", ("src", "group_src"))
    target = writeable(tensor, "scatter: tensor")
    sources = _only_on_root(found, root, scatter_list, target, "scatter", "scatter_list", "src", write=False)
    me = found.members.rank
    flat = flatten(target if sources is None else sources[me], copy=True)[0]
    parts = {me: flat}
    if sources is not None:
        parts |= {r: flatten(source, copy=True)[0] for r, source in enumerate(sources) if r != me}

    def finish() -> None:
        target[...] = flat.reshape(target.shape)

    return _issue(
        found, "scatter", flat, root=root, shape=target.shape, nbytes=target.nbytes * found.size(),
        parts=parts, finish=finish, async_op=async_op,
    )  # fmt: skip


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: object = None) -> Work | None:
    """Return when every rank of the group has called it.

    Args:
        group: None for the world.
        async_op: return a Work at once.
        device_ids: accepted for torch's sake.
    """
    found = _enter(group, "barrier")
    if found is None:
        return None
    return _issue(found, "barrier", _EMPTY.copy(), async_op=async_op)


# -- lists of arrays --------------------------------------------------------------------------------------------------------


def _parts(
    arrays: Sequence[Any], group: ProcessGroup, shape: tuple[int, ...], dtype: np.dtype[Any], what: str, *, write: bool
) -> list[Any]:
    """The arrays of a list argument: one per rank, all of one shape and dtype, not overlapping if they are written."""
    if len(arrays) != group.size():
        raise ValueError(
            f"rank {group.world.rank}: {what} has {len(arrays)} arrays, the group has {group.size()} ranks."
        )
    found = [(writeable if write else array_of)(array, f"{what}[{i}]") for i, array in enumerate(arrays)]
    for i, array in enumerate(found):
        if array.shape != shape or array.dtype != dtype:
            raise ShapeError(
                f"rank {group.world.rank}: {what}[{i}] is {array.shape} {array.dtype}, expected {shape} {dtype}."
            )
    if write:
        _refuse_overlap(found, group, what)
    return found


def _refuse_overlap(arrays: list[Any], group: ProcessGroup, what: str) -> None:
    real = [(i, a) for i, a in enumerate(arrays) if isinstance(a, np.ndarray)]
    for n, (i, a) in enumerate(real):
        for j, b in real[n + 1 :]:
            if np.may_share_memory(a, b) and np.shares_memory(a, b):
                raise ValueError(
                    f"rank {group.world.rank}: {what}[{i}] and [{j}] share memory: one result would overwrite the other. "
                    "Make one array for each rank."
                )


def _only_on_root(
    group: ProcessGroup,
    root: int,
    arrays: Sequence[Any] | None,
    like: Any,
    what: str,
    name: str,
    end: str,
    *,
    write: bool,
) -> list[Any] | None:
    """The list that only the root gives."""
    if group.members.rank != root:
        if arrays:
            raise ValueError(f"rank {group.world.rank}: {what}: {name} must be given on the {end} rank only.")
        return None
    if arrays is None:
        raise ValueError(f"rank {group.world.rank}: {what}: the {end} rank must give {name}, one array for each rank.")
    return _parts(arrays, group, like.shape, like.dtype, f"{what}: {name}", write=write)
