"""How do ranks exchange things that are no arrays?

Anything that can be pickled travels as bytes: first everybody's sizes, then the bytes, as in torch. That is two collectives
instead of one, and pickling runs whatever code the sender's objects name: use it for settings and results, not for numbers.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from simdist.errors import GroupError, ShapeError

from .copies import all_gather_into_tensor, broadcast, gather, scatter
from .group import ProcessGroup
from .issue import enter, root_of
from .point_to_point import recv, send

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
    "send_object_list",
]  # fmt: skip


def _packed(value: Any) -> Any:
    return np.frombuffer(pickle.dumps(value), dtype=np.uint8).copy()


def _padded(data: Any, length: int) -> Any:
    row = np.zeros(length, np.uint8)
    row[: data.size] = data
    return row


def _unpacked(data: Any, sizes: Any) -> list[Any]:
    """The objects that lie one behind the other."""
    ends = np.cumsum(sizes)
    return [pickle.loads(data[end - size : end].tobytes()) for end, size in zip(ends, sizes, strict=True)]


def _all_sizes(group: ProcessGroup, size: int) -> Any:
    sizes = np.zeros(group.size(), np.int64)
    all_gather_into_tensor(sizes, np.array([size], np.int64), group)
    return sizes


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """``object_list[r]`` becomes rank r's ``obj``.

    Args:
        object_list: a list with one place for each rank; overwritten.
        obj: anything that can be pickled.
        group: None for the world.

    Raises:
        IndexError: the list is too short.
    """
    found = enter(group, "all_gather_object")
    if found is None:
        return
    size = found.size()
    if len(object_list) < size:
        raise IndexError(
            f"rank {found.world.rank}: all_gather_object: object_list has {len(object_list)} places, the group {size} ranks."
        )
    data = _packed(obj)
    sizes = _all_sizes(found, data.size)
    rows = np.zeros((size, int(sizes.max())), np.uint8)
    all_gather_into_tensor(rows, _padded(data, rows.shape[1]), found)
    object_list[:size] = [pickle.loads(row[:n].tobytes()) for row, n in zip(rows, sizes, strict=True)]


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """``object_gather_list[r]`` on rank ``dst`` becomes rank r's ``obj``.

    Args:
        obj: anything that can be pickled.
        object_gather_list: on ``dst`` a list with one place for each rank; elsewhere None.
        dst: global rank that gathers (default: 0).
        group: None for the world.
        group_dst: the same as a group rank, instead of ``dst``.
    """
    found = enter(group, "gather_object")
    if found is None:
        return
    dst = 0 if dst is None and group_dst is None else dst
    root = root_of(found, dst, group_dst, "gather_object", ("dst", "group_dst"))
    if (found.members.rank == root) != (object_gather_list is not None):
        raise ValueError(
            f"rank {found.world.rank}: gather_object: object_gather_list is given on the dst rank, and only there."
        )
    data = _packed(obj)
    sizes = _all_sizes(found, data.size)
    longest = int(sizes.max())
    rows = [np.zeros(longest, np.uint8) for _ in range(found.size())] if object_gather_list is not None else None
    gather(_padded(data, longest), rows, group=found, group_dst=root)
    if rows is not None and object_gather_list is not None:
        object_gather_list[:] = [pickle.loads(row[:n].tobytes()) for row, n in zip(rows, sizes, strict=True)]


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: object = None,
    group_src: int | None = None,
) -> None:
    """Every rank's list becomes that of rank ``src``; all lists must be equally long.

    Args:
        object_list: a list of equal length on all ranks; overwritten except on ``src``.
        src: global rank it comes from (default: 0).
        group: None for the world.
        device: accepted for torch's sake.
        group_src: the same as a group rank, instead of ``src``.
    """
    found = enter(group, "broadcast_object_list")
    if found is None:
        return
    src = 0 if src is None and group_src is None else src
    root = root_of(found, src, group_src, "broadcast_object_list", ("src", "group_src"))
    mine = [_packed(value) for value in object_list] if found.members.rank == root else []
    sizes = np.array([data.size for data in mine] or [0] * len(object_list), np.int64)
    broadcast(sizes, group=found, group_src=root)
    data = np.concatenate(mine) if mine else np.zeros(int(sizes.sum()), np.uint8)
    broadcast(data, group=found, group_src=root)
    if found.members.rank != root:
        object_list[:] = _unpacked(data, sizes)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: Sequence[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """The first place of rank r's output list becomes ``scatter_object_input_list[r]`` of rank ``src``.

    Args:
        scatter_object_output_list: a list with at least one place.
        scatter_object_input_list: on ``src`` one object for each rank.
        src: global rank that scatters (default: 0).
        group: None for the world.
        group_src: the same as a group rank, instead of ``src``.
    """
    found = enter(group, "scatter_object_list")
    if found is None:
        return
    me, size = found.world.rank, found.size()
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise GroupError(f"rank {me}: scatter_object_list: the output must be a list with at least one place.")
    src = 0 if src is None and group_src is None else src
    root = root_of(found, src, group_src, "scatter_object_list", ("src", "group_src"))
    given = [_packed(value) for value in scatter_object_input_list or ()] if found.members.rank == root else []
    if found.members.rank == root and len(given) != size:
        raise ShapeError(f"rank {me}: scatter_object_list: {len(given)} objects for {size} ranks.")
    longest = np.array([max([data.size for data in given], default=0)], np.int64)
    broadcast(longest, group=found, group_src=root)
    row, mine = np.zeros(int(longest[0]), np.uint8), np.zeros(1, np.int64)
    scatter(row, [_padded(data, row.size) for data in given] or None, group=found, group_src=root)
    scatter(mine, [np.array([data.size], np.int64) for data in given] or None, group=found, group_src=root)
    scatter_object_output_list[0] = pickle.loads(row[: int(mine[0])].tobytes())


def send_object_list(
    object_list: Sequence[Any],
    dst: int | None = None,
    group: ProcessGroup | None = None,
    device: object = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send a list of objects to rank ``dst``, which calls ``recv_object_list`` with a list of equal length.

    Args:
        object_list: anything that can be pickled.
        dst: global rank of the receiver.
        group: None for the world.
        device: accepted for torch's sake.
        use_batch: accepted for torch's sake.
        group_dst: the receiver as a group rank, instead of ``dst``.
    """
    packed = [_packed(value) for value in object_list]
    send(np.array([data.size for data in packed], np.int64), dst, group, group_dst=group_dst)
    send(np.concatenate([np.empty(0, np.uint8), *packed]), dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: object = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive into ``object_list`` what ``send_object_list`` sends, and return the sender's global rank.

    Args:
        object_list: a list as long as the sender's; overwritten.
        src: global rank of the sender; None: any.
        group: None for the world.
        device: accepted for torch's sake.
        use_batch: accepted for torch's sake.
        group_src: the sender as a group rank, instead of ``src``.
    """
    sizes = np.zeros(len(object_list), np.int64)
    source = recv(sizes, src, group, group_src=group_src)
    data = np.zeros(int(sizes.sum()), np.uint8)
    recv(data, source, group)
    object_list[:] = _unpacked(data, sizes)
    return source
