"""How does an endless loop in a simulated rank end?

All simulated ranks share one thread; a rank that never waits would stop the whole run for ever. A watchdog thread
looks whether the kernel's heartbeat moves (a rank was resumed, a primitive was billed); if it has not for ``limit``
seconds of the host's time, it raises ``DistTimeoutError`` inside the rank that runs. It measures the host, so it
never changes a simulated time.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from simdist.errors import DistTimeoutError

__all__ = ["EndlessLoopError", "watchdog"]


class EndlessLoopError(DistTimeoutError):
    """A rank computed on the host for too long without waiting for anything."""

    def __init__(self, *args: object) -> None:
        super().__init__(
            *(args or ("a rank ran for too long without communicating or computing anything that simdist bills. Is there "
                       "an endless loop? A longer limit: sd.run(..., watchdog=seconds).",))
        )  # fmt: skip


@contextmanager
def watchdog(limit: float, heartbeat: Callable[[], int]) -> Iterator[None]:
    """Watch the current thread while the block runs.

    Args:
        limit: seconds of host time without a heartbeat after which the running rank is stopped.
        heartbeat: gives a number that changes as long as all is well.
    """
    thread = threading.get_ident()
    over = threading.Event()

    def watch() -> None:
        last = heartbeat()
        while not over.wait(limit):
            beat = heartbeat()
            if beat == last:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(EndlessLoopError))
                return
            last = beat

    watcher = threading.Thread(target=watch, name="simdist-watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
