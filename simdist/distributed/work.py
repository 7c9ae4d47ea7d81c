"""How does a rank know that an asynchronous operation is complete?

``Work`` is what ``async_op=True``, ``isend`` and ``irecv`` return. ``wait()`` blocks until the operation is complete
and its result is in the caller's arrays; until then they hold what they held before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simdist.backends.world import World

__all__ = ["Work"]


class Work:
    """An operation under way.

    Args:
        world: the rank that issued it.
        inner: the backend's work.
        finish: writes the result into the caller's arrays, once.
    """

    __slots__ = ("_finish", "_inner", "_world")

    def __init__(self, world: World, inner: Any, finish: Callable[[], None] | None = None) -> None:
        self._world, self._inner, self._finish = world, inner, finish

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the operation is complete; the result is then in place.

        Args:
            timeout: accepted for torch's sake; the limit of the run or of the group holds.

        Returns:
            True.
        """
        self._inner.wait()
        self._deliver()
        return True

    def is_completed(self) -> bool:
        """Whether the operation is complete now; if so, its result is in place. In simulation, asking costs 1 us."""
        if not self._world.is_completed(self._inner):
            return False
        self.wait()
        return True

    def _deliver(self) -> None:
        if self._finish is not None:
            finish, self._finish = self._finish, None
            finish()
