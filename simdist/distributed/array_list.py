"""What must a list of arrays look like that a collective fills or reads?

One array for each rank of the group, all of one shape and dtype; arrays that are written may not overlap. Lists that
only the root gives must be absent elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simdist.errors import ShapeError

from .buffer import array_of, writeable
from .group import ProcessGroup

__all__ = ["as_list", "one_per_rank", "only_on_root", "refuse_overlap"]


def as_list(arrays: Sequence[Any], group: ProcessGroup, what: str, *, write: bool) -> list[Any]:
    """The arrays of a list argument: one per rank, of any shapes, not overlapping if they are written."""
    if len(arrays) != group.size():
        raise ShapeError(
            f"rank {group.world.rank}: {what} has {len(arrays)} arrays, the group has {group.size()} ranks."
        )
    found = [(writeable if write else array_of)(array, f"{what}[{i}]") for i, array in enumerate(arrays)]
    if write:
        refuse_overlap(found, group, what)
    return found


def one_per_rank(
    arrays: Sequence[Any], group: ProcessGroup, shape: tuple[int, ...], dtype: np.dtype[Any], what: str, *, write: bool
) -> list[Any]:
    """The arrays of a list argument: one per rank, all of one shape and dtype, not overlapping if they are written."""
    found = as_list(arrays, group, what, write=write)
    for i, array in enumerate(found):
        if array.shape != shape or array.dtype != dtype:
            raise ShapeError(
                f"rank {group.world.rank}: {what}[{i}] is {array.shape} {array.dtype}, expected {shape} {dtype}."
            )
    return found


def refuse_overlap(arrays: list[Any], group: ProcessGroup, what: str) -> None:
    """Refuse arrays of which one result would overwrite another.

    Raises:
        ValueError: two share memory; names both.
    """
    real = [(i, a) for i, a in enumerate(arrays) if isinstance(a, np.ndarray)]
    for n, (i, a) in enumerate(real):
        for j, b in real[n + 1 :]:
            if np.may_share_memory(a, b) and np.shares_memory(a, b):
                raise ValueError(
                    f"rank {group.world.rank}: {what}[{i}] and [{j}] share memory: one result would overwrite the other. "
                    "Make one array for each rank."
                )


def only_on_root(
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
    return one_per_rank(arrays, group, like.shape, like.dtype, f"{what}: {name}", write=write)
