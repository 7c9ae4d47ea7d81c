"""How does a rank hold a value that is not there yet?

torch's ``torch.futures``. A ``Future`` is made by ``Work.get_future()``, or by hand and filled with ``set_result``. It
belongs to one rank and is not sent to others.

When do chained functions run? A future made by hand calls them when it gets its result. A future of a communication calls
them when somebody looks: at ``wait()``, ``value()`` or ``done()`` of it or of one that was chained to it. There is no thread
that would run them meanwhile, in simulation or elsewhere, so a program's result does not depend on one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import DistError

__all__ = ["Future", "collect_all", "wait_all"]

_OPEN = object()


class Future:
    """A value to come.

    Args:
        devices: accepted for torch's sake.
        work: the communication whose result it will be; None if it is filled by hand.
    """

    def __init__(self, *, devices: Sequence[Any] | None = None, work: Any = None) -> None:
        self._work = work
        self._source: Callable[[], Any] | None = None
        self._parents: tuple[Future, ...] = ()
        self._value: Any = _OPEN
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future], Any]] = []

    def _is_set(self) -> bool:
        return self._value is not _OPEN or self._error is not None

    def done(self) -> bool:
        """Whether the value (or an error) is there. In simulation, asking a communication costs 1 us."""
        if not self._is_set() and self._is_ready():
            self._fetch()
        return self._is_set()

    def _is_ready(self) -> bool:
        if self._work is not None:
            return bool(self._work.is_completed())
        return self._source is not None and all(parent.done() for parent in self._parents)

    def _fetch(self) -> None:
        try:
            if self._work is not None:
                self._work.wait()
                value = self._work.result()
            else:
                assert self._source is not None
                for parent in self._parents:
                    parent._await()
                if self._is_set():  # a parent that got its value has called us
                    return
                value = self._source()
        except Exception as error:
            self.set_exception(error)
        else:
            self.set_result(value)

    def _await(self) -> None:
        if self._is_set():
            return
        if self._work is None and self._source is None:
            raise DistError(
                "nobody will ever set this future: it was made by hand, and the rank that waits for it is the only one that "
                "could call set_result(). Set it first."
            )
        self._fetch()

    def wait(self) -> Any:
        """Block until the value is there, and return it.

        Raises:
            Exception: what the communication, or a chained function, raised.
            DistError: it was made by hand and has no value yet.
        """
        self._await()
        return self.value()

    def value(self) -> Any:
        """The value, which must be there.

        Raises:
            DistError: it is not there yet.
            Exception: the error that is there instead.
        """
        if self._error is not None:
            raise self._error
        if not self.done():
            raise DistError("the future has no value yet: call wait().")
        if self._error is not None:
            raise self._error
        return self._value

    def set_result(self, result: Any) -> None:
        """Give it its value; chained functions run now.

        Raises:
            DistError: it has one already.
        """
        self._once()
        self._value = result
        self._tell()

    def set_exception(self, result: BaseException) -> None:
        """Give it an error instead of a value.

        Raises:
            DistError: it has a value already.
            TypeError: not an exception.
        """
        if not isinstance(result, BaseException):
            raise TypeError(f"set_exception takes an exception, got {type(result).__name__}.")
        self._once()
        self._error = result
        self._tell()

    def _once(self) -> None:
        if self._is_set():
            raise DistError("the future has a result already; it can be set once.")

    def _tell(self) -> None:
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def _follow(self, _: Future) -> None:
        if not self._is_set():
            self._fetch()

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Call ``callback(future)`` when the value is there (at once if it is)."""
        if self._is_set():
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """A future of what ``callback(future)`` will return."""
        chained = Future()
        chained._parents, chained._source = (self,), lambda: callback(self)
        self.add_done_callback(chained._follow)
        return chained


def collect_all(futures: Sequence[Future]) -> Future:
    """A future of the list of ``futures``, complete when all of them are."""
    listed = list(futures)
    result = Future()
    result._parents, result._source = tuple(listed), lambda: listed
    return result


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """Wait for all and return their values; the first error is raised."""
    return [future.wait() for future in list(futures)]
