"""What can every rank of a group give to every other one?

torch's all-to-all. The block from rank s to rank d is as long as its sender says; the receiver's splits must say the same,
so output splits are the columns of the table whose rows are the input splits. Blocks may be empty. A rank's block for itself
is copied and never travels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from simdist.comm.algorithm import ALGORITHMS
from simdist.errors import ShapeError
from simdist.tensor import MetaArray

from .array_list import as_list
from .buffer import array_of, flatten, writeable
from .group import ProcessGroup
from .issue import enter, issue
from .work import Work

__all__ = ["all_to_all", "all_to_all_single"]


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Rank d's ``output`` becomes the d-th part of every rank's ``input``, one after the other in rank order.

    Args:
        output: array; overwritten.
        input: array with the same shape but for its first dimension.
        output_split_sizes: how many rows come from each rank; None: equal parts.
        input_split_sizes: how many rows go to each rank; None: equal parts.
        group: None for the world.
        async_op: return a Work at once.

    Raises:
        ShapeError: splits that do not add up to the first dimension, a first dimension that cannot be divided, other
            dimensions or dtypes that differ.
        CollectiveMismatchError: two ranks do not agree on the size of the block between them; the text names the pair.
    """
    name = "all_to_all_single"
    found = enter(group, name)
    if found is None:
        return None
    target, source = writeable(output, f"{name}: output"), array_of(input, f"{name}: input")
    if target.dtype != source.dtype or target.shape[1:] != source.shape[1:] or not target.ndim or not source.ndim:
        raise ShapeError(
            f"rank {found.world.rank}: {name}: output {target.shape} {target.dtype} and input {source.shape} {source.dtype} "
            "must have a first dimension, and the same dtype and other dimensions."
        )
    row = int(np.prod(source.shape[1:], dtype=np.int64))
    out_rows = _splits(found, target.shape[0], output_split_sizes, f"{name}: output")
    in_rows = _splits(found, source.shape[0], input_split_sizes, f"{name}: input")
    received = (
        np.empty(target.size, target.dtype)
        if isinstance(target, np.ndarray)
        else MetaArray((target.size,), target.dtype)
    )
    sent = flatten(source, copy=True)[0]

    def finish() -> None:
        target[...] = received.reshape(target.shape)

    equal = output_split_sizes is None and input_split_sizes is None
    outgoing, incoming = _cut(sent, in_rows, row), _cut(received, out_rows, row)
    return _exchange(
        found, name, source.shape if equal else None, sent, outgoing, incoming, finish, async_op, (output,), (input,)
    )


def all_to_all(
    output_tensor_list: Sequence[Any],
    input_tensor_list: Sequence[Any],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Rank d's ``output_tensor_list[s]`` becomes rank s's ``input_tensor_list[d]``.

    Args:
        output_tensor_list: one array for each rank, overwritten; none overlapping another.
        input_tensor_list: one array for each rank. Shapes may differ from pair to pair.
        group: None for the world.
        async_op: return a Work at once.

    Raises:
        ShapeError: a list of the wrong length, dtypes that differ.
        CollectiveMismatchError: two ranks do not agree on the size of the block between them; the text names the pair.
    """
    name = "all_to_all"
    found = enter(group, name)
    if found is None:
        return None
    targets = as_list(output_tensor_list, found, f"{name}: output_tensor_list", write=True)
    sources = as_list(input_tensor_list, found, f"{name}: input_tensor_list", write=False)
    dtypes = list(dict.fromkeys(str(array.dtype) for array in [*targets, *sources]))
    if len(dtypes) > 1:
        raise ShapeError(f"rank {found.world.rank}: {name}: all arrays must have one dtype, found {', '.join(dtypes)}.")
    outgoing = [flatten(source, copy=True)[0] for source in sources]
    incoming = [flatten(target, copy=True)[0] for target in targets]

    def finish() -> None:
        for target, flat in zip(targets, incoming, strict=True):
            target[...] = flat.reshape(target.shape)

    return _exchange(
        found, name, None, outgoing[0], outgoing, incoming, finish, async_op, output_tensor_list, input_tensor_list
    )


def _exchange(
    group: ProcessGroup,
    name: str,
    shape: tuple[int, ...] | None,
    flat: Any,
    outgoing: list[Any],
    incoming: list[Any],
    finish: Any,
    async_op: bool,
    result: Sequence[Any],
    read: Sequence[Any],
) -> Work | None:
    """Copy the own block, and let the others travel. Without a shape that all share, blocks may differ in size."""
    me, size = group.members.rank, group.size()
    if incoming[me].size != outgoing[me].size:
        raise ShapeError(
            f"rank {group.world.rank}: {name}: {_pair(group, me, me)} sends {outgoing[me].size} elements, expected "
            f"{incoming[me].size}."
        )
    incoming[me][...] = outgoing[me]
    parts = {me * size + rank: block for rank, block in enumerate(outgoing) if rank != me}
    parts |= {rank * size + me: block for rank, block in enumerate(incoming) if rank != me}
    algorithm = None if shape is not None else ALGORITHMS["pairwise_all_to_all"]
    block = flat if shape is None else outgoing[0]  # chunks that pass through are as large as the own ones
    return issue(
        group, name, block, shape, None, finish, async_op, kind="all_to_all", parts=parts, algorithm=algorithm,
        nbytes=sum([part.nbytes for part in outgoing]), result=result, lent=(result, read),
    )  # fmt: skip


def _pair(group: ProcessGroup, source: int, to: int) -> str:
    ranks = group.members.ranks
    return f"{ranks[source]}->{ranks[to]}"


def _splits(group: ProcessGroup, rows: int, given: Sequence[int] | None, what: str) -> list[int]:
    size, rank = group.size(), group.world.rank
    if given is None or not len(given):
        if rows % size:
            raise ShapeError(
                f"rank {rank}: {what} has {rows} rows, which cannot be divided among {size} ranks. Give split sizes."
            )
        return [rows // size] * size
    splits = [int(n) for n in given]
    if len(splits) != size or sum(splits) != rows or min(splits) < 0:
        raise ShapeError(
            f"rank {rank}: {what} has {rows} rows, but the split sizes are {splits}: there must be one for each of the "
            f"{size} ranks, none negative, and they must add up to {rows}."
        )
    return splits


def _cut(flat: Any, rows: Sequence[int], row: int) -> list[Any]:
    ends = accumulate((n * row for n in rows), initial=0)
    return [flat[a:b] for a, b in pairwise(ends)]
