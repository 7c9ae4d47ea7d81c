"""How do all ranks learn that one has failed?

The rank that fails sends a frame to every other rank. Whoever waits there stops waiting; a thread looks for the frame while the
rank computes, and interrupts it. What each rank was doing at that moment is kept: it belongs into the report.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from simdist.backends.process.claim import Claim
from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.frame import Frame, Kind
from simdist.backends.process.link import Lane
from simdist.backends.process.place import thread_place
from simdist.backends.process.sink import Sink

from .wires import MpiWires

__all__ = ["MpiEndpoint", "StoppedError"]

_ABORT = 1 + max(Kind)
_LOOK = 0.05  # seconds between two looks of the watching thread
_GRACE_LOOKS = 6  # looks until a rank that does not wait is interrupted


class StoppedError(BaseException):
    """Another rank has failed: this one stops. Not an ``Exception``, so that no handler of the user's takes it for its own."""


class MpiEndpoint(Endpoint):
    """An endpoint that can stop all ranks.

    Attributes:
        doing: what this rank was doing when it was stopped, one line each.
        posted: what it had posted then.
    """

    def __init__(
        self, rank: int, world_size: int, wires: MpiWires, timeout: float | None = 300.0, eager_limit: int = 0
    ) -> None:
        self._mpi_wires = wires
        self.doing: list[str] = []
        self.posted: list[Claim] = []
        self._stopped = False
        self._ended = threading.Event()
        self._rank_thread = threading.get_ident()
        super().__init__(rank, world_size, wires, timeout, eager_limit)
        self._handlers[_ABORT] = self._on_abort
        self._watcher = threading.Thread(target=self._watch, name="simdist-watch", daemon=True)
        self._watcher.start()

    @property
    def mutex(self) -> threading.RLock:
        """Guards every call of MPI."""
        return self._mutex

    @property
    def stopped(self) -> bool:
        """Whether another rank has failed."""
        return self._stopped

    @property
    def quiet(self) -> bool:
        """Whether everything that was sent has gone and everything announced has come."""
        with self._mutex:
            return self._mpi_wires.quiet

    def poll(self) -> None:
        """Move what can be moved now."""
        self._progress.poll()

    def abort(self) -> None:
        """Tell every other rank that this one has failed."""
        with self._mutex:
            for lane in self._links.values():
                lane.send([Frame(_ABORT, 0).pack()], stable=True)

    def late_error(self) -> Any:
        """Every wait ends when another rank has failed."""
        return StoppedError("another rank has failed") if self._stopped else super().late_error()

    def end(self) -> None:
        """The rank's function has ended: from now on it is not interrupted."""
        self._ended.set()
        self._watcher.join()

    def _on_abort(self, lane: Lane, frame: Frame) -> Sink | None:
        if not self._stopped and not self._ended.is_set():
            place = thread_place(self._rank_thread)
            at = f", it is at {place}" if place else ""
            self.doing = [f"waits for {line}" for line in self.waiting_for()] or [f"waits for nothing{at}"]
            self.posted = self.claims()
        self._stopped = True
        return None

    def _watch(self) -> None:
        """Look for the news of a failure while the rank computes; interrupt it if it does not stop by itself."""
        looks = 0
        while not self._ended.wait(_LOOK):
            self.poll()
            looks += self._stopped
            if looks == _GRACE_LOOKS and not self._ended.is_set():
                thread, kind = ctypes.c_ulong(self._rank_thread), ctypes.py_object(StoppedError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, kind)
                return
