"""How does the default group of a rank begin and end?

``sd.run`` has made it when the rank's function begins. ``init_process_group``, with which scripts for torch begin, then checks
what it is told and refuses what contradicts the run; nobody meets at its address or in its store.
"""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache

from simdist.backends import context
from simdist.backends.world import World
from simdist.errors import GroupError

from .backend import check_backend
from .group import ProcessGroup, default_group
from .rendezvous import complete, read_address
from .store import Store
from .work import seconds_of

__all__ = ["destroy_process_group", "init_process_group", "is_available", "is_initialized", "setup"]


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
    timeout: float | timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: object = None,
    device_id: object = None,
) -> None:
    """Make the default process group of all ranks.

    ``sd.run`` has done it already when the rank's function begins; so a first call, as a script written for torch
    makes it, only checks its arguments. A second call without ``destroy_process_group`` between is refused.

    Args:
        backend: a name of torch's (``"gloo"``, ``"cpu:gloo,cuda:nccl"``) or of simdist's, or None; ``sd.run`` has chosen which.
        init_method: an address (``rendezvous``); what it says of rank and world size must be the run's.
        timeout: limit of any one wait, seconds of the backend's clock, or a ``datetime.timedelta``.
        world_size: if given, must be the run's.
        rank: if given, must be the current rank.
        store: instead of an address; then ``rank`` and ``world_size`` are needed.
        group_name: accepted for torch's sake.
        pg_options: accepted for torch's sake.
        device_id: accepted for torch's sake.

    Raises:
        DistError: outside a run.
        GroupError: called twice; rank or world size do not fit the run, or are missing where torch needs them; a store and an
            address; no backend, or no address, of that kind.
        TypeError: a timeout that is none, something else than a store.
    """
    world = context.require("init_process_group")
    check_backend(backend, "init_process_group")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float | timedelta)):
        raise TypeError(f"init_process_group: timeout must be a timedelta, or a number of seconds, got {timeout!r}.")
    if store is not None:
        _check_store(store, init_method, rank, world_size)
    elif init_method is not None:
        address = read_address(init_method, rank, world_size)
        if address.scheme != "env":  # in a run the variables need not be there
            complete(address, init_method)
        rank, world_size = address.rank, address.world_size
    for name, given, actual in (("world_size", world_size, world.world_size), ("rank", rank, world.rank)):
        if given not in (-1, actual):
            raise GroupError(f"rank {world.rank}: init_process_group({name}={given}), but the run has {name} {actual}.")
    if "group" in world.state and not world.state.pop("implicit", False):
        raise GroupError(
            f"rank {world.rank}: the default process group exists already; call destroy_process_group() before making it "
            "anew."
        )
    if timeout is not None:
        world.timeout = seconds_of(timeout)
    if "group" not in world.state:
        setup(world)


def _check_store(store: Store, init_method: str | None, rank: int, world_size: int) -> None:
    if not isinstance(store, Store):
        raise TypeError(f"init_process_group: store must be a Store, got {store!r}.")
    if init_method is not None:
        raise GroupError("init_process_group: give either init_method or store, not both: each says where ranks meet.")
    if rank < 0 or world_size < 1:
        raise GroupError(
            f"init_process_group(store=..., rank={rank}, world_size={world_size}): with a store, rank and world_size are needed."
        )
    if rank >= world_size:
        raise GroupError(f"init_process_group: rank {rank} is not below world_size {world_size}.")


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
    """Forget a group (None: the default one, and with it all others and the ability to communicate).

    Raises:
        GroupError: it does not exist any more.
        DistError: outside a run.
    """
    world = context.require("destroy_process_group")
    default = default_group(world)
    if group is None or group is default:
        for each in (default, *world.state.pop("made groups", ())):
            each.destroy()
        world.state.pop("group", None)
        world.state.pop("implicit", None)
        return
    group.must_exist("destroy_process_group")
    group.destroy()
