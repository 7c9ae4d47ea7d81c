"""How does a rank know that an asynchronous operation is complete?

``Work`` is what ``async_op=True``, ``isend`` and ``irecv`` return. ``wait()`` blocks until the operation is complete
and its result is in the caller's arrays. Until then the arrays belong to the operation: what they hold is no result (see `loan`).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from simdist.backends.world import World
from simdist.errors import DistError, DistTimeoutError

if TYPE_CHECKING:
    from simdist.futures import Future

    from .loan import Loan

__all__ = ["Work", "seconds_of"]


def seconds_of(timeout: float | timedelta | None) -> float | None:
    """A limit in seconds of the backend's clock (None: no limit of its own)."""
    return timeout.total_seconds() if isinstance(timeout, timedelta) else timeout


class Work:
    """An operation under way.

    Args:
        world: the rank that issued it.
        inner: the backend's work.
        finish: writes the result into the caller's arrays, once.
        limit: seconds that a wait may take if it names no limit; None: the run's.
        result: the caller's arrays that hold the result.
        receives: whether it is the receive of a message, which knows its sender.
        loan: the caller's arrays, if they are guarded until ``wait()``.
    """

    __slots__ = ("_error", "_finish", "_inner", "_limit", "_loan", "_receives", "_result", "_world")

    def __init__(
        self,
        world: World,
        inner: Any,
        finish: Callable[[], None] | None = None,
        limit: float | None = None,
        result: Any = None,
        receives: bool = False,
        loan: Loan | None = None,
    ) -> None:
        self._world, self._inner, self._finish, self._limit, self._result = world, inner, finish, limit, result
        self._receives, self._loan = receives, loan
        self._error: BaseException | None = None

    def wait(self, timeout: float | timedelta | None = None) -> bool:
        """Block until the operation is complete; the result is then in place.

        Args:
            timeout: limit in seconds of the backend's clock, or a ``timedelta``; None: the group's, or the run's.

        Returns:
            True.

        Raises:
            DistTimeoutError: it took longer. The operation goes on; it may be waited for again.
            BufferInUseError: an array of the operation was changed since the call (checked runs).
        """
        limit = seconds_of(timeout) if timeout is not None else self._limit
        try:
            if limit is None:
                self._inner.wait()
            else:
                self._inner.wait(limit)
            self._return_loan()
        except DistTimeoutError:
            raise
        except Exception as error:
            self._error = error
            if self._loan is not None:
                self._loan.give_back()
            raise
        if self._finish is not None:
            finish, self._finish = self._finish, None
            finish()
        return True

    def _return_loan(self) -> None:
        """The arrays are the caller's again; raise if they were changed meanwhile."""
        if self._loan is not None:
            loan, self._loan = self._loan, None
            loan.give_back()
            loan.inspect()

    def is_completed(self) -> bool:
        """Whether the operation is complete now; if so, its result is in place. In simulation, asking costs 1 us."""
        if not self._world.is_completed(self._inner):
            return False
        self.wait()
        return True

    def is_success(self) -> bool:
        """Whether it is complete and nothing went wrong."""
        return self.is_completed() and self._error is None

    def exception(self) -> BaseException | None:
        """What made it fail, once somebody has waited for it; None if nothing did."""
        return self._error

    def source_rank(self) -> int:
        """The global rank whose message was received.

        Raises:
            DistError: this is not a receive.
        """
        if not self._receives:
            raise DistError("source_rank() is known of a receive only (irecv).")
        return int(self._inner.peer)

    def result(self) -> list[Any]:
        """The caller's arrays that hold the result, after ``wait()``."""
        return [] if self._result is None else list(self._result)

    def synchronize(self) -> None:
        """The same as ``wait()``: there is no stream of the device to synchronize with."""
        self.wait()

    def block_current_stream(self) -> None:
        """The same as ``wait()``: a rank computes on one stream."""
        self.wait()

    def get_future(self) -> Future:
        """A future whose value is ``result()``, and on which functions can be chained."""
        from simdist.futures import Future

        return Future(work=self)
