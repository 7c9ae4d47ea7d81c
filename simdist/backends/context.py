"""Which rank is running?

One context variable holds the World of the current rank. A simulated rank has its own context per greenlet, a real
one has a process for itself; outside a run there is none.
"""

from __future__ import annotations

from contextvars import ContextVar

from simdist.errors import GroupError

from .world import World

__all__ = ["current", "require"]

world: ContextVar[World | None] = ContextVar("simdist_world", default=None)

current = world.get
"""The World of the running rank, or None outside a run."""


def require(what: str) -> World:
    """The World of the running rank.

    Raises:
        GroupError: ``what`` was called outside a run.
    """
    found = world.get()
    if found is None:
        raise GroupError(
            f"{what} was called outside a run: it needs ranks. Put it into a function train(rank, world_size) and start "
            "that with sd.run(train, world_size=4)."
        )
    return found
