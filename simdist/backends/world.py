"""What does one rank see of the backend that carries it?

``simdist.distributed``, ``sd.compute`` and their like never ask which backend they run on: they talk to the ``World``
of the current rank. The simulator's is ``sim.rank.SimRank``; that of a real process is
``backends.process_world.ProcessWorld``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from simdist.comm.call import Call
from simdist.comm.choose import Chooser
from simdist.comm.transport import Tag, Work
from simdist.place import Place
from simdist.tensor.observe import Listener

__all__ = ["Commons", "World"]


class Commons(Protocol):
    """What simulated ranks share, since they live in one process."""

    @property
    def things(self) -> dict[Any, Any]:
        """Anything that ranks leave for each other, by a key."""

    def touch(
        self,
        what: str,
        action: Callable[[], Any],
        ready: Callable[[], bool] | None = None,
        limit: float | None = None,
    ) -> Any:
        """Do ``action`` in the order of the clock, as soon as ``ready()`` holds; DistTimeoutError after ``limit`` seconds."""


class World(Protocol):
    """One rank's view of a running job.

    Attributes:
        rank: global rank.
        world_size: number of ranks.
        backend: ``"sim"``, ``"process"``, ...
        seed: the run's seed.
        device: ``"real"`` or ``"meta"`` (shapes only).
        checked: compare the ranks' calls with each other.
        timeout: explicit limit of any one wait in the backend's own seconds, or None.
        state: what ``simdist.distributed`` keeps per rank (default group, number of groups).
        notes: what the run's report should tell about this rank.
        chooser: which algorithm a collective uses.
        listener: who bills the primitives that this rank computes, or None.
    """

    rank: int
    world_size: int
    backend: str
    seed: int
    device: str
    checked: bool
    timeout: float | None
    state: dict[str, Any]
    notes: list[str]
    chooser: Chooser
    listener: Listener | None

    @property
    def commons(self) -> Commons | None:
        """What simulated ranks share; None on a real backend."""

    def now(self) -> float:
        """Seconds since the start of the run, on the backend's clock."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""

    def charge(self, kind: str, name: str, seconds: float) -> None:
        """The accelerator is busy for ``seconds`` (a real backend does nothing: its work takes the time it takes)."""

    def compute(self, flops: float, nbytes: float, name: str, dtype: str) -> None:
        """The same for as long as the roofline says of ``flops`` and ``nbytes``."""

    def isend(self, buf: Any, dst: int, tag: Tag, where: Place | None) -> Work:
        """Start to send a contiguous array of any shape to global rank ``dst``."""

    def irecv(self, buf: Any, src: int | tuple[int, ...], tag: Tag, where: Place | None) -> Work:
        """Start to receive into a contiguous array of any shape from global rank ``src``.

        With a tuple of ranks: from whichever of them sends first; the work's ``peer`` tells who it was.
        """

    def collective(self, call: Call, async_op: bool) -> Work | None:
        """Take part in a collective; with ``async_op`` give a Work at once, else return when it is done."""

    def agree(self, call: Call) -> None:
        """Return when every rank of the group has made an equal call; no bytes of the user's move."""

    def is_completed(self, work: Any) -> bool:
        """Whether ``work`` is complete now (asking may cost time)."""
