"""How do the ranks tell each other what became of the run?

Everybody gives bytes and gets those of all. While a rank waits for the others it goes on moving messages, since the others may
still be receiving what it has sent; and it has a limit, since a rank may never come.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Assembly", "LateError"]

_SHORTEST, _LONGEST = 20e-6, 2e-3


class LateError(Exception):
    """Not all ranks have come in time."""


class Assembly:
    """All ranks of a communicator.

    Args:
        mpi: the module ``mpi4py.MPI``.
        comm: the communicator.
        idle: called again and again while a rank waits.
        lock: held at every call of MPI, or None.
    """

    def __init__(self, mpi: Any, comm: Any, idle: Callable[[], None] = lambda: None, lock: Any = None) -> None:
        self._mpi, self._comm, self._idle, self._lock = mpi, comm, idle, lock

    def share(self, data: bytes, limit: Callable[[], float | None]) -> list[bytes]:
        """What every rank gave, by rank.

        Args:
            data: what this rank gives.
            limit: seconds that the wait may last from now on, or None; asked again and again.

        Raises:
            LateError: a rank did not come.
        """
        sizes = np.zeros(self._comm.size, np.int64)
        mine = np.array([len(data)], np.int64)
        self._wait(lambda: self._comm.Iallgather(mine, sizes), limit)
        everything = np.zeros(int(sizes.sum()), np.uint8)
        ends = np.cumsum(sizes)
        blocks = [everything, sizes.tolist(), (ends - sizes).tolist(), self._mpi.BYTE]
        self._wait(lambda: self._comm.Iallgatherv([data, self._mpi.BYTE], blocks), limit)
        return [everything[end - size : end].tobytes() for size, end in zip(sizes, ends, strict=True)]

    def meet(self, ready: Callable[[], bool], limit: Callable[[], float | None]) -> None:
        """Return when every rank is ready and has come.

        Raises:
            LateError: a rank did not come, or this one did not get ready.
        """
        self._until(ready, limit)
        self._wait(self._comm.Ibarrier, limit)

    def _wait(self, start: Callable[[], Any], limit: Callable[[], float | None]) -> None:
        request = self._locked(start)
        self._until(lambda: bool(self._locked(request.Test)), limit)

    def _locked(self, call: Callable[[], Any]) -> Any:
        if self._lock is None:
            return call()
        with self._lock:
            return call()

    def _until(self, reached: Callable[[], bool], limit: Callable[[], float | None]) -> None:
        pause, began, allowed = _SHORTEST, time.monotonic(), limit()
        while not reached():
            self._idle()
            now = limit()
            if now is not None and allowed is None:  # the limit has come up just now
                began = time.monotonic()
            allowed = now
            if allowed is not None and time.monotonic() - began > allowed:
                raise LateError
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
