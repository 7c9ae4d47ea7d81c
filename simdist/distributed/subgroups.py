"""How is a group divided into several?

Each function makes all the parts on every rank, in one order, as ``new_group`` requires, and gives the rank its own part.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from simdist.errors import GroupError

from .group import ProcessGroup, new_group, resolve

__all__ = ["new_subgroups", "new_subgroups_by_enumeration", "split_group"]


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: float | timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Divide a group into parts of ``group_size`` neighbours.

    Args:
        group_size: ranks in each part; must divide the group.
        group: what is divided; None for the world.
        timeout: as for ``new_group``.
        backend: as for ``new_group``.
        pg_options: accepted for torch's sake.
        group_desc: a name for texts and traces.

    Returns:
        The part that the current rank belongs to, and all parts.

    Raises:
        GroupError: the size is missing or does not divide the group.
    """
    found = resolve(group, "new_subgroups")
    ranks = found.members.ranks
    if group_size is None:
        raise GroupError("new_subgroups: give group_size=: a simulated rank has no device count to take it from.")
    if not 0 < group_size <= len(ranks) or len(ranks) % group_size:
        raise GroupError(
            f"new_subgroups(group_size={group_size}): {found!r} of {len(ranks)} ranks cannot be divided by it."
        )
    parts = [list(ranks[i : i + group_size]) for i in range(0, len(ranks), group_size)]
    mine, made = new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)
    assert mine is not None
    return mine, made


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: float | timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup | None, list[ProcessGroup]]:
    """Make a group of each list of global ranks.

    Args:
        ranks_per_subgroup_list: the lists; no rank in two of them.
        timeout: as for ``new_group``.
        backend: as for ``new_group``.
        pg_options: accepted for torch's sake.
        group_desc: a name for texts and traces.

    Returns:
        The group that the current rank belongs to (None: to none), and all groups.

    Raises:
        GroupError: no lists, or a rank in two of them.
    """
    listed = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if not listed:
        raise GroupError("new_subgroups_by_enumeration: there is no rank in any list.")
    twice = [rank for rank in dict.fromkeys(listed) if listed.count(rank) > 1]
    if twice:
        raise GroupError(f"new_subgroups_by_enumeration: rank {twice[0]} is in two lists: {ranks_per_subgroup_list}.")
    made = [new_group(ranks, timeout, backend, group_desc=group_desc) for ranks in ranks_per_subgroup_list]
    mine = next((group for group in made if group.rank() >= 0), None)
    return mine, made


def split_group(
    parent_pg: ProcessGroup | None = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: float | timedelta | None = None,
    pg_options: object = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> ProcessGroup | None:
    """Divide a group by lists of *group* ranks. Only the parent's members call it.

    Args:
        parent_pg: what is divided; None for the world.
        split_ranks: lists of positions in the parent; no position in two of them.
        timeout: as for ``new_group``.
        pg_options: accepted for torch's sake.
        group_desc: a name for texts and traces.
        backend: as for ``new_group``.

    Returns:
        The part that the current rank belongs to, or None.

    Raises:
        GroupError: no lists, a position that the parent does not have, or in two lists; the caller is no member.
    """
    parent = resolve(parent_pg, "split_group")
    positions = [int(rank) for ranks in split_ranks or () for rank in ranks]
    if (
        not positions
        or len(dict.fromkeys(positions)) != len(positions)
        or not 0 <= min(positions) <= max(positions) < parent.size()
    ):
        raise GroupError(
            f"split_group: split_ranks={split_ranks} must be lists of positions 0..{parent.size() - 1} of {parent!r}, none twice."
        )
    if parent.rank() < 0:
        raise GroupError(f"rank {parent.world.rank} calls split_group on {parent!r}, of which it is no member.")
    for ranks in split_ranks or ():
        if parent.rank() in ranks:
            chosen = [parent.members.ranks[rank] for rank in ranks]
            return new_group(chosen, timeout, backend, use_local_synchronization=True, group_desc=group_desc)
    return None
