"""How do the users of one process share values, and wait for them?

Threads lock, and wait on a condition. Simulated ranks take turns in the order of the clock and wait in simulated time; if
nobody can set the key any more, the run ends with its report of who waits for what.
"""

from __future__ import annotations

import threading
from typing import Any

from simdist.backends import context
from simdist.errors import DistStoreError, DistTimeoutError
from simdist.units import format_time

from .values import CHANGES, Values

__all__ = ["DEFAULT_SECONDS", "Board", "late", "limit_now"]

DEFAULT_SECONDS = 300.0
"""How long a wait may take that names no limit, and whose store names none: torch's five minutes."""


def limit_now(limit: float | None) -> float | None:
    """The limit of a wait in seconds of the current clock: its own, the run's, or the default one.

    In simulation the default one is no limit: when nobody can go on, the run says so at once.
    """
    world = context.current()
    if limit is not None:
        return max(0.0, limit)
    if world is not None and world.timeout is not None:
        return world.timeout
    return None if world is not None and world.commons is not None else DEFAULT_SECONDS


def late(what: str, missing: list[str], limit: float | None) -> DistStoreError:
    """The error of who has waited in vain."""
    world = context.current()
    where = f"rank {world.rank} at {format_time(world.now())}: " if world is not None else ""
    return DistStoreError(
        f"{where}{what} waited {0.0 if limit is None else limit:g} s for {', '.join(map(repr, missing))}: nobody has set it. "
        "Look at who should have, or give more time: store.set_timeout(...)."
    )


class Board:
    """Values behind a lock.

    Args:
        values: what is shared.
    """

    def __init__(self, values: Values | None = None) -> None:
        self.values = values or Values()
        self._changed = threading.Condition()

    def do(self, operation: str, arguments: tuple[Any, ...], limit: float | None) -> Any:
        """One operation of ``Values``, as soon as it can be done.

        Raises:
            DistStoreError: a key did not come within the limit.
        """
        limit = limit_now(limit)
        world = context.current()
        what = said(operation, arguments)

        ready = _Missing(self.values, operation, arguments).none
        try:
            if world is not None and world.commons is not None:
                return world.commons.touch(what, lambda: self.values.do(operation, *arguments), ready, limit)
            with self._changed:
                if not self._changed.wait_for(ready, limit):
                    raise DistTimeoutError(what)
                answer = self.values.do(operation, *arguments)
                if operation in CHANGES:
                    self._changed.notify_all()
                return answer
        except DistTimeoutError:
            missing = self.values.missing(operation, *arguments)
            raise late(what, missing, limit) from None


class _Missing:
    """The keys that somebody waits for; each is looked at until it has come, however often one asks."""

    def __init__(self, values: Values, operation: str, arguments: tuple[Any, ...]) -> None:
        self._values, self._operation, self._arguments = values, operation, arguments
        self._rest: list[str] = []

    def none(self) -> bool:
        """Whether all are there now."""
        while self._rest:
            if self._values.lacks(self._rest[-1], self._operation, *self._arguments):
                return False
            self._rest.pop()
        self._rest = self._values.missing(self._operation, *self._arguments)  # one that had come may have gone
        self._rest.reverse()
        return not self._rest


def said(operation: str, arguments: tuple[Any, ...]) -> str:
    """An operation for a person: ``store.get('k')``."""
    return f"store.{operation}({repr(arguments[0]) if arguments else ''})"
