"""How is a rank stopped when another one has failed?

Whoever waits stops waiting at its next look; a rank that computes is interrupted. What it was doing at that moment is kept: it
belongs into the report. Local processes need none of this: they are ended by the system.
"""

from __future__ import annotations

import ctypes
import threading

from simdist.backends.process.claim import Claim
from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.place import thread_place
from simdist.backends.process.wires import Wires

__all__ = ["StoppableEndpoint", "StoppedError"]


class StoppedError(BaseException):
    """Another rank has failed: this one stops. Not an ``Exception``, so that no handler of the user's takes it for its own."""


class StoppableEndpoint(Endpoint):
    """An endpoint whose rank can be stopped.

    Attributes:
        doing: what this rank was doing when it was stopped, one line each.
        posted: what it had posted then.
        rank_thread: identifier of the thread that runs the rank's function.
    """

    def __init__(
        self, rank: int, world_size: int, wires: Wires, timeout: float | None = 300.0, eager_limit: int = 0
    ) -> None:
        self.doing: list[str] = []
        self.posted: list[Claim] = []
        self.rank_thread = threading.get_ident()
        self._stopped = False
        super().__init__(rank, world_size, wires, timeout, eager_limit)

    @property
    def stopped(self) -> bool:
        """Whether another rank has failed."""
        return self._stopped

    def poll(self) -> None:
        """Move what can be moved now."""
        self._progress.poll()

    def late_error(self) -> BaseException | None:
        """Every wait ends when another rank has failed."""
        return StoppedError("another rank has failed") if self._stopped else super().late_error()

    def stop(self, *, ended: bool = False) -> None:
        """Another rank has failed. ``ended``: this one's function has come to its end, so there is nothing to tell."""
        if not self._stopped and not ended:
            place = thread_place(self.rank_thread)
            at = f", it is at {place}" if place else ""
            self.doing = [f"waits for {line}" for line in self.waiting_for()] or [f"waits for nothing{at}"]
            self.posted = self.claims()
        self._stopped = True

    def interrupt(self) -> None:
        """Raise ``StoppedError`` in the rank's thread, wherever it is (compiled code finishes first)."""
        thread, kind = ctypes.c_ulong(self.rank_thread), ctypes.py_object(StoppedError)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, kind)
