"""How do all ranks learn that one has failed?

The rank that fails sends a frame to every other rank. Whoever waits there stops waiting; a thread looks for the frame while the
rank computes, and interrupts it.
"""

from __future__ import annotations

import threading

from simdist.backends.process.frame import Frame, Kind
from simdist.backends.process.link import Lane
from simdist.backends.process.sink import Sink
from simdist.backends.stoppable_endpoint import StoppableEndpoint

from .wires import MpiWires

__all__ = ["MpiEndpoint"]

_ABORT = 1 + max(Kind)
_LOOK = 0.05  # seconds between two looks of the watching thread
_GRACE_LOOKS = 6  # looks until a rank that does not wait is interrupted


class MpiEndpoint(StoppableEndpoint):
    """An endpoint that can stop all ranks."""

    def __init__(
        self, rank: int, world_size: int, wires: MpiWires, timeout: float | None = 300.0, eager_limit: int = 0
    ) -> None:
        self._mpi_wires = wires
        self._ended = threading.Event()
        super().__init__(rank, world_size, wires, timeout, eager_limit)
        self._handlers[_ABORT] = self._on_abort
        self._watcher = threading.Thread(target=self._watch, name="simdist-watch", daemon=True)
        self._watcher.start()

    @property
    def mutex(self) -> threading.RLock:
        """Guards every call of MPI."""
        return self._mutex

    @property
    def quiet(self) -> bool:
        """Whether everything that was sent has gone and everything announced has come."""
        with self._mutex:
            return self._mpi_wires.quiet

    @property
    def traffic(self) -> tuple[list[int], list[int]]:
        """How many messages were sent to each rank, and how many have come from each."""
        with self._mutex:
            return self._mpi_wires.traffic

    def abort(self) -> None:
        """Tell every other rank that this one has failed."""
        with self._mutex:
            for lane in self._links.values():
                lane.send([Frame(_ABORT, 0).pack()], stable=True)

    def end(self) -> None:
        """The rank's function has ended: from now on it is not interrupted."""
        self._ended.set()
        self._watcher.join()

    def _on_abort(self, lane: Lane, frame: Frame) -> Sink | None:
        self.stop(ended=self._ended.is_set())
        return None

    def _watch(self) -> None:
        """Look for the news of a failure while the rank computes; interrupt it if it does not stop by itself."""
        looks = 0
        while not self._ended.wait(_LOOK):
            self.poll()
            looks += self._stopped
            if looks == _GRACE_LOOKS and not self._ended.is_set():
                self.interrupt()
                return
