"""How do several arrays travel as one?

Small messages cost their latency each. These calls put arrays of one dtype behind each other, make one collective of them, and
write the parts back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from simdist.comm.reduce_op import ReduceOp
from simdist.errors import ShapeError
from simdist.tensor import MetaArray

from .array_list import refuse_overlap
from .buffer import array_of, writeable
from .group import ProcessGroup
from .issue import enter, issue
from .work import Work

__all__ = ["all_gather_coalesced", "all_reduce_coalesced"]


def all_reduce_coalesced(
    tensors: Sequence[Any], op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Every rank's ``tensors[i]`` becomes the reduction of all ranks' ``tensors[i]``: one all-reduce for all.

    Args:
        tensors: arrays or Tensors of one dtype, equal in size on all ranks, none overlapping another; overwritten.
        op: how to combine.
        group: None for the world.
        async_op: return a Work at once.

    Raises:
        ShapeError: no arrays, or several dtypes.
        ValueError, TypeError, ReductionError: as ``all_reduce``.
        CollectiveMismatchError: the ranks' sizes differ (checked runs).
    """
    name = "all_reduce_coalesced"
    found = enter(group, name)
    if found is None:
        return None
    arrays = [writeable(tensor, f"{name}: tensors[{i}]") for i, tensor in enumerate(tensors)]
    refuse_overlap(arrays, found, f"{name}: tensors")
    flat, sizes = _joined(arrays, found, name), _sizes(arrays)

    def finish() -> None:
        _divide(flat, arrays)

    return issue(found, name, flat, sizes, op, finish, async_op, kind="all_reduce", result=tensors)


def all_gather_coalesced(
    output_tensor_lists: Sequence[Sequence[Any]],
    input_tensor_list: Sequence[Any],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """``output_tensor_lists[r][i]`` becomes rank r's ``input_tensor_list[i]``: one all-gather for all.

    Args:
        output_tensor_lists: for each rank a list of arrays as in ``input_tensor_list``; overwritten.
        input_tensor_list: arrays of one dtype, equal in size on all ranks.
        group: None for the world.
        async_op: return a Work at once.

    Raises:
        ShapeError: lists, shapes or dtypes that do not fit together.
    """
    name = "all_gather_coalesced"
    found = enter(group, name)
    if found is None:
        return None
    sources = [array_of(tensor, f"{name}: input_tensor_list[{i}]") for i, tensor in enumerate(input_tensor_list)]
    targets = [
        [writeable(tensor, f"{name}: output_tensor_lists[{rank}][{i}]") for i, tensor in enumerate(row)]
        for rank, row in enumerate(output_tensor_lists)
    ]
    like = [(array.shape, array.dtype) for array in sources]
    if len(targets) != found.size() or any([(a.shape, a.dtype) for a in row] != like for row in targets):
        raise ShapeError(
            f"rank {found.world.rank}: {name}: output_tensor_lists must have a list for each of the {found.size()} ranks, with "
            f"arrays as in input_tensor_list: {', '.join(f'{shape} {dtype}' for shape, dtype in like)}."
        )
    refuse_overlap([array for row in targets for array in row], found, f"{name}: output_tensor_lists")
    mine, size = _joined(sources, found, name), found.size()
    n = mine.size
    flat: Any = MetaArray((size * n,), mine.dtype) if isinstance(mine, MetaArray) else np.empty(size * n, mine.dtype)
    flat[found.members.rank * n : (found.members.rank + 1) * n] = mine

    def finish() -> None:
        for rank, row in enumerate(targets):
            _divide(flat[rank * n : (rank + 1) * n], row)

    outputs = [tensor for row in output_tensor_lists for tensor in row]
    return issue(found, name, flat, _sizes(sources), None, finish, async_op, kind="all_gather", result=outputs)


def _joined(arrays: list[Any], group: ProcessGroup, name: str) -> Any:
    """The arrays behind each other, as a copy."""
    dtypes = list(dict.fromkeys(str(array.dtype) for array in arrays))
    if len(dtypes) != 1:
        found = f"found {', '.join(dtypes)}" if dtypes else "and there is none"
        raise ShapeError(f"rank {group.world.rank}: {name}: all arrays must have one dtype, {found}.")
    if isinstance(arrays[0], MetaArray):
        return MetaArray((sum(_sizes(arrays)),), arrays[0].dtype)
    return np.concatenate([array.reshape(-1) for array in arrays])


def _sizes(arrays: list[Any]) -> tuple[int, ...]:
    return tuple([array.size for array in arrays])


def _divide(flat: Any, arrays: list[Any]) -> None:
    """Write the parts of ``flat`` into the arrays."""
    for array, (begin, end) in zip(arrays, pairwise(accumulate(_sizes(arrays), initial=0)), strict=True):
        array[...] = flat[begin:end].reshape(array.shape)
