"""How does a learner's endless loop end, whatever it does?

A loop that never waits is stopped by the watchdog of ``sd.run``. A loop that sleeps, polls or sends keeps the
simulated clock going and would run for ever all the same, and one that catches every exception would swallow the
watchdog's. So the checker has a limit of its own on the host's time, which raises in the checked thread again and
again until the block is left. It measures the host, so it never changes a simulated number: it only decides when to
give up. A single long call into compiled code cannot be interrupted.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from simdist.backends.watchdog import shots

__all__ = ["host_limit"]


@contextmanager
def host_limit(seconds: float) -> Iterator[None]:
    """Raise ``EndlessLoopError`` in this thread if the block takes longer than ``seconds`` of the host's time.

    Args:
        seconds: how long the block may take.

    Raises:
        EndlessLoopError: it took longer.
        GiveUp: it took longer, and caught the first.
    """
    thread = ctypes.c_ulong(threading.get_ident())
    over = threading.Event()

    def watch() -> None:
        if over.wait(seconds):
            return
        for pause, kind in shots():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(kind))
            if over.wait(pause):
                return

    watcher = threading.Thread(target=watch, name="simdist-host-limit", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        # one that was raised at the very end and has not arrived yet must not hit the caller
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)
