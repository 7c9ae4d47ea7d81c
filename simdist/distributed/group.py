"""Who belongs together?

A process group is an ordered set of ranks that communicate among themselves. The world is group 0; ``new_group``
makes more. Every rank must make the same groups in the same order, members or not: a group's number, which its
messages carry, is the count of groups that the rank has seen (torch requires the same; ``founding`` checks it).

Global and group ranks: ``src=`` and ``dst=`` of every call are *global* ranks, ``group_src=`` and ``group_dst=`` are
positions in the group. Mixing them works in the world group and fails in the first other one; so a global rank that
is no member is refused.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from simdist.backends import context
from simdist.backends.world import World
from simdist.comm.call import Members, Request
from simdist.errors import GroupError

from .backend import check_backend
from .founding import agree, local_number
from .work import seconds_of

__all__ = [
    "GroupMember", "ProcessGroup", "get_backend", "get_global_rank", "get_group_rank", "get_process_group_ranks",
    "get_rank", "get_world_size", "new_group",
]  # fmt: skip

NOT_A_MEMBER = -1
_DESTROYED = -2  # the rank of a member in a group that is no more


class ProcessGroup:
    """A group of ranks, as the current rank sees it.

    Attributes:
        members: who belongs to it, and which of them this rank is (group rank -1: not a member).
        sequence: the number of collectives that this rank has started in it.
        requests: what has been asked of it before: calls alike share a request.
        timeout: seconds of the backend's clock that one wait in the group may take; None: the run's limit.
    """

    __slots__ = ("members", "requests", "sequence", "timeout", "world")

    def __init__(self, world: World, group_id: int, ranks: tuple[int, ...], name: str) -> None:
        self.world = world
        self.members = Members(group_id, ranks, _position(ranks, world.rank), name)
        self.sequence = 0
        self.requests: dict[tuple[Any, ...], Request] = {}
        self.timeout: float | None = None

    @property
    def group_name(self) -> str:
        """A text that is the same on all ranks and no other group's: its number."""
        return str(self.members.id)

    @property
    def group_desc(self) -> str:
        """What ``new_group(group_desc=)`` said, for people."""
        return self.members.name

    def rank(self) -> int:
        """The current rank's position in the group (-1 if it is no member)."""
        return self.members.rank

    def size(self) -> int:
        """Number of ranks in the group."""
        return len(self.members.ranks)

    def destroy(self) -> None:
        """From now on every call on the group is an error (on a rank that is no member nothing changes)."""
        if self.members.rank != NOT_A_MEMBER:
            self.members = replace(self.members, rank=_DESTROYED)

    def must_exist(self, what: str) -> None:
        """Refuse to go on with a destroyed group.

        Raises:
            GroupError: it is no more.
        """
        if self.members.rank == _DESTROYED:
            raise GroupError(
                f"rank {self.world.rank}: {what} on {self!r}, which has been destroyed. Make a new group, or destroy it later."
            )

    def __repr__(self) -> str:
        return f"ProcessGroup({self.members.name!r}, ranks={list(self.members.ranks)})"


def _position(ranks: tuple[int, ...], rank: int) -> int:
    """The place of ``rank``, or NOT_A_MEMBER.

    Ranks are nearly always sorted: looking at all of them would cost a square over all ranks that make the world.
    """
    at = bisect_left(ranks, rank)
    if at < len(ranks) and ranks[at] == rank:
        return at
    return ranks.index(rank) if rank in ranks else NOT_A_MEMBER


class _Marks(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802  torch's name
        """The default group of the current rank, or None."""
        world = context.current()
        found: ProcessGroup | None = None if world is None else world.state.get("group")
        return found


class GroupMember(metaclass=_Marks):
    """torch's marks: ``WORLD`` stands for the default group, ``NON_GROUP_MEMBER`` for a group one is not in."""

    NON_GROUP_MEMBER = -100


def __getattr__(name: str) -> Any:
    """``dist.group.WORLD``, as torch writes it: this module stands for torch's class ``group``."""
    if name in ("WORLD", "NON_GROUP_MEMBER"):
        return getattr(GroupMember, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def default_group(world: World) -> ProcessGroup:
    """The world group of the current rank.

    Raises:
        GroupError: it does not exist (any more).
    """
    group = world.state.get("group")
    if group is None:
        raise GroupError(
            f"rank {world.rank}: the default process group has not been initialized; call init_process_group() first."
        )
    assert isinstance(group, ProcessGroup)
    return group


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: float | timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: object = None,
    sort_ranks: bool = True,
) -> ProcessGroup:
    """Make a group of some ranks. Every rank of the world must call it, in the same order, members or not.

    In a checked run it returns when all have called it. Unchecked it does not wait, as gloo does not.

    Args:
        ranks: global ranks; None for all.
        timeout: seconds of the backend's clock that one wait in the group may take, or a ``timedelta``; None: the run's limit.
        backend: the name of a backend; ``sd.run`` has chosen which.
        pg_options: accepted for torch's sake.
        use_local_synchronization: only the members call it, and nobody waits.
        group_desc: a name for texts and traces.
        device_id: accepted for torch's sake.
        sort_ranks: group ranks follow the global ranks; False: they follow the list.

    Returns:
        The group; on a rank that is no member its ``rank()`` is -1 and collectives on it do nothing.

    Raises:
        GroupError: no ranks, one that does not exist, or twice the same; no backend has that name.
        CollectiveMismatchError: the ranks' calls differ (checked runs).
        DeadlockError, DistTimeoutError: a rank does not call it (checked runs).
    """
    world = context.require("new_group")
    default = default_group(world)
    check_backend(backend, "new_group")
    chosen = list(range(world.world_size)) if ranks is None else [int(r) for r in ranks]
    if not chosen:
        raise GroupError(f"rank {world.rank}: new_group([]): a group needs a rank; leave out ranks= for all of them.")
    for rank in chosen:
        if not 0 <= rank < world.world_size:
            raise GroupError(
                f"rank {world.rank}: new_group({chosen}): rank {rank} is not in 0..{world.world_size - 1}."
            )
    if len(dict.fromkeys(chosen)) != len(chosen):
        raise GroupError(f"rank {world.rank}: new_group({chosen}) names a rank twice.")
    ordered = tuple(sorted(chosen) if sort_ranks else chosen)
    if use_local_synchronization:
        made = world.state.setdefault("local groups", {})
        made[ordered] = made.get(ordered, -1) + 1
        local = ProcessGroup(world, local_number(ordered, made[ordered]), ordered, group_desc or f"group {chosen}")
        return _made(world, local, timeout)
    if world.checked:
        agree(default, ordered)
    number = world.state["groups"]
    world.state["groups"] = number + 1
    group = ProcessGroup(world, number, ordered, group_desc or f"group {number}")
    return _made(world, group, timeout)


def _made(world: World, group: ProcessGroup, timeout: float | timedelta | None) -> ProcessGroup:
    """Keep what belongs to a new group."""
    group.timeout = seconds_of(timeout)
    world.state.setdefault("made groups", []).append(group)
    return group


def resolve(group: ProcessGroup | None, what: str) -> ProcessGroup:
    """The group that a call means: the given one, or the world.

    Raises:
        GroupError: it has been destroyed, or there is no world group.
    """
    if group is not None:
        group.must_exist(what)
        return group
    return default_group(context.require(what))


def get_rank(group: ProcessGroup | None = None) -> int:
    """The current rank's number in the group (None: in the world); -1 if it is no member."""
    return resolve(group, "get_rank").members.rank


def get_world_size(group: ProcessGroup | None = None) -> int:
    """Number of ranks in the group; -1 if the current rank is no member."""
    members = resolve(group, "get_world_size").members
    return len(members.ranks) if members.rank != NOT_A_MEMBER else -1


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name of the backend that carries the group: ``"sim"``, ``"process"``, ...

    Raises:
        GroupError: the current rank is no member.
    """
    found = resolve(group, "get_backend")
    if found.members.rank == NOT_A_MEMBER:
        raise GroupError(f"rank {found.world.rank}: get_backend({found!r}): the rank is no member of it.")
    return found.world.backend


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The global rank at position ``group_rank`` of the group.

    Raises:
        GroupError: there is no such position.
    """
    ranks = resolve(group, "get_global_rank").members.ranks
    if not 0 <= group_rank < len(ranks):
        raise GroupError(f"group rank {group_rank} is not in {group!r}: it has {len(ranks)} ranks.")
    return ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The position of ``global_rank`` in the group.

    Raises:
        GroupError: it is no member.
    """
    if global_rank not in resolve(group, "get_group_rank").members.ranks:
        raise GroupError(f"global rank {global_rank} is not in {group!r}.")
    return group.members.ranks.index(global_rank)


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The global ranks of the group, in order of their group rank."""
    return list(resolve(group, "get_process_group_ranks").members.ranks)
