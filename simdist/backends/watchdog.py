"""How does an endless loop in a simulated rank end?

All simulated ranks share one thread; a rank that never waits would stop the whole run for ever. A watchdog thread
looks whether the kernel's heartbeat moves (a rank was resumed, a primitive was billed); if it has not for ``limit``
seconds of the host's time, it raises ``EndlessLoopError`` inside the rank that runs. It measures the host, so it
never changes a simulated time.

A loop may catch what it is given and go on. So the watchdog raises again, and after a few times something that
``except Exception`` does not catch, until the run has ended. What leaves the run is an ``EndlessLoopError`` that names
the rank and the line at which it was first found. A single long call into compiled code cannot be interrupted.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat

from simdist import place
from simdist.errors import EndlessLoopError

__all__ = ["EndlessLoopError", "GiveUp", "shots", "watchdog"]

_AGAIN_SECONDS = (0.25,) * 4
_STUBBORN_SECONDS = 0.001


class GiveUp(BaseException):  # not an Exception, as KeyboardInterrupt is none
    """The rank has swallowed ``EndlessLoopError`` and goes on: ``except Exception`` does not catch this."""


def shots() -> Iterator[tuple[float, type[BaseException]]]:
    """What to raise in a thread that must end, and how long to wait before the next: for ever, and more and more often.

    A bare ``except:`` catches even ``GiveUp``, but not while it handles one: raised often enough, it gets through.
    """
    kinds = chain([EndlessLoopError], repeat(GiveUp))
    return zip(chain(_AGAIN_SECONDS, repeat(_STUBBORN_SECONDS)), kinds, strict=False)


@contextmanager
def watchdog(
    limit: float, heartbeat: Callable[[], int], current: Callable[[], int | None] = lambda: None
) -> Iterator[None]:
    """Watch the current thread while the block runs.

    Args:
        limit: seconds of host time without a heartbeat after which the running rank is stopped.
        heartbeat: gives a number that changes as long as all is well.
        current: which rank runs now, or None.

    Raises:
        EndlessLoopError: a rank was stopped.
    """
    thread = threading.get_ident()
    over = threading.Event()
    found: list[str] = []

    def watch() -> None:
        last = heartbeat()
        while not over.wait(limit):
            beat = heartbeat()
            if beat == last:
                found[:] = [_lesson(limit, current(), thread)]
                for pause, kind in shots():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
                    if over.wait(pause):
                        return
                    if heartbeat() != beat:  # it has let go
                        break
            last = heartbeat()

    watcher = threading.Thread(target=watch, name="simdist-watchdog", daemon=True)
    watcher.start()
    try:
        try:
            yield
        finally:
            over.set()
            watcher.join()
            # one that was raised at the very end and has not arrived yet must not hit the caller
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)
    except (EndlessLoopError, GiveUp) as error:
        if not found:
            raise  # not the watchdog's: somebody else's limit
        if isinstance(error, EndlessLoopError):
            error.args = (found[0],)
            raise
        told = EndlessLoopError(found[0])
        for note in getattr(error, "__notes__", ()):
            told.add_note(note)
        raise told from None


def _lesson(limit: float, rank: int | None, thread: int) -> str:
    who = "a rank" if rank is None else f"rank {rank}"
    where = place.innermost(sys._current_frames().get(thread))
    at = "" if where is None else f" It is at {place.text(where)}."
    return (
        f"{who} ran for more than {limit:g} s of this computer's time without communicating or computing anything that "
        f"simdist bills.{at} Is there an endless loop? If it only takes long: sd.run(..., watchdog=seconds)."
    )
