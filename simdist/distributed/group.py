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
from datetime import timedelta
from functools import lru_cache
from typing import Any

from simdist.backends import context
from simdist.backends.world import World
from simdist.comm.call import Members, Request
from simdist.errors import GroupError

from .founding import agree, local_number
from .work import seconds_of

__all__ = [
    "GroupMember", "ProcessGroup", "destroy_process_group", "get_backend", "get_global_rank", "get_group_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized",
    "new_group",
]  # fmt: skip

NOT_A_MEMBER = -1


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
        at = bisect_left(
            ranks, world.rank
        )  # ranks are sorted; a search from the front would cost a square over all ranks
        position = at if at < len(ranks) and ranks[at] == world.rank else NOT_A_MEMBER
        self.world = world
        self.members = Members(group_id, ranks, position, name)
        self.sequence = 0
        self.requests: dict[tuple[Any, ...], Request] = {}
        self.timeout: float | None = None

    def rank(self) -> int:
        """The current rank's position in the group (-1 if it is no member)."""
        return self.members.rank

    def size(self) -> int:
        """Number of ranks in the group."""
        return len(self.members.ranks)

    def __repr__(self) -> str:
        return f"ProcessGroup({self.members.name!r}, ranks={list(self.members.ranks)})"


class GroupMember:
    """torch's marks: ``WORLD`` stands for the default group, ``NON_GROUP_MEMBER`` for a group one is not in."""

    WORLD: ProcessGroup | None = None
    NON_GROUP_MEMBER = -100


def is_available() -> bool:
    """Always True: simdist brings its own backends."""
    return True


def is_initialized() -> bool:
    """Whether the current rank has a default process group."""
    world = context.current()
    return world is not None and "group" in world.state


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: float | None = None,
    world_size: int = -1,
    rank: int = -1,
) -> None:
    """Make the default process group of all ranks.

    ``sd.run`` has done it already when the rank's function begins; so a first call, as a script written for torch
    makes it, only checks its arguments. A second call without ``destroy_process_group`` between is refused.

    Args:
        backend: ignored names of torch (``"gloo"``, ``"nccl"``) or None: ``sd.run`` chooses the backend.
        init_method: ignored: ranks know each other.
        timeout: limit of any one wait, seconds of the backend's clock, or a ``datetime.timedelta``.
        world_size: if given, must be the run's.
        rank: if given, must be the current rank.

    Raises:
        DistError: outside a run.
        GroupError: called twice; ``world_size`` or ``rank`` do not fit the run.
    """
    world = context.require("init_process_group")
    for name, given, actual in (("world_size", world_size, world.world_size), ("rank", rank, world.rank)):
        if given not in (-1, actual):
            raise GroupError(f"rank {world.rank}: init_process_group({name}={given}), but the run has {name} {actual}.")
    if "group" in world.state and not world.state.pop("implicit", False):
        raise GroupError(
            f"rank {world.rank}: the default process group exists already; call destroy_process_group() before making it "
            "anew."
        )
    if timeout is not None:
        world.timeout = timeout if isinstance(timeout, int | float) else timeout.total_seconds()
    if "group" not in world.state:
        setup(world)


def setup(world: World, *, implicit: bool = False) -> None:
    """Give ``world`` its default group. ``implicit``: made by the launcher, so one explicit call may still come."""
    number = world.state.get("groups", 0)
    world.state["group"] = ProcessGroup(world, number, _everybody(world.world_size), "world")
    world.state["groups"] = number + 1
    if implicit:
        world.state["implicit"] = True


@lru_cache(maxsize=16)
def _everybody(world_size: int) -> tuple[int, ...]:
    """The ranks of the world: one tuple that all simulated ranks share."""
    return tuple(range(world_size))


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forget a group (None: the default one, and with it the ability to communicate)."""
    world = context.require("destroy_process_group")
    default = default_group(world)
    if group is None or group is default:
        world.state.pop("group", None)
        world.state.pop("implicit", None)


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
) -> ProcessGroup:
    """Make a group of some ranks. Every rank of the world must call it, in the same order, members or not.

    In a checked run it returns when all have called it. Unchecked it does not wait, as gloo does not.

    Args:
        ranks: global ranks, sorted as torch does; None for all.
        timeout: seconds of the backend's clock that one wait in the group may take, or a ``timedelta``; None: the run's limit.
        backend: accepted for torch's sake.
        pg_options: accepted for torch's sake.
        use_local_synchronization: only the members call it, and nobody waits.
        group_desc: a name for texts and traces.
        device_id: accepted for torch's sake.

    Returns:
        The group; on a rank that is no member its ``rank()`` is -1 and collectives on it do nothing.

    Raises:
        GroupError: a rank that does not exist, or twice the same.
        CollectiveMismatchError: the ranks' calls differ (checked runs).
        DeadlockError, DistTimeoutError: a rank does not call it (checked runs).
    """
    world = context.require("new_group")
    default = default_group(world)
    chosen = list(range(world.world_size)) if ranks is None else [int(r) for r in ranks]
    for rank in chosen:
        if not 0 <= rank < world.world_size:
            raise GroupError(
                f"rank {world.rank}: new_group({chosen}): rank {rank} is not in 0..{world.world_size - 1}."
            )
    if len(dict.fromkeys(chosen)) != len(chosen):
        raise GroupError(f"rank {world.rank}: new_group({chosen}) names a rank twice.")
    ordered = tuple(sorted(chosen))
    if use_local_synchronization:
        made = world.state.setdefault("local groups", {})
        made[ordered] = made.get(ordered, -1) + 1
        local = ProcessGroup(world, local_number(ordered, made[ordered]), ordered, group_desc or f"group {chosen}")
        local.timeout = seconds_of(timeout)
        return local
    if world.checked:
        agree(default, ordered)
    number = world.state["groups"]
    world.state["groups"] = number + 1
    group = ProcessGroup(world, number, ordered, group_desc or f"group {number}")
    group.timeout = seconds_of(timeout)
    return group


def resolve(group: ProcessGroup | None, what: str) -> ProcessGroup:
    """The group that a call means: the given one, or the world."""
    if group is not None:
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
    """The name of the backend that carries the group: ``"sim"`` or ``"process"``."""
    return resolve(group, "get_backend").world.backend


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The global rank at position ``group_rank`` of the group.

    Raises:
        GroupError: there is no such position.
    """
    ranks = group.members.ranks
    if not 0 <= group_rank < len(ranks):
        raise GroupError(f"group rank {group_rank} is not in {group!r}: it has {len(ranks)} ranks.")
    return ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The position of ``global_rank`` in the group.

    Raises:
        GroupError: it is no member.
    """
    if global_rank not in group.members.ranks:
        raise GroupError(f"global rank {global_rank} is not in {group!r}.")
    return group.members.ranks.index(global_rank)


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The global ranks of the group, in order of their group rank."""
    return list(resolve(group, "get_process_group_ranks").members.ranks)
