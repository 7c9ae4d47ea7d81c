"""What is one simulated run?

A job puts the parts together: the kernel, the network, the ranks, the rows of the trace. ``run`` runs it to the end
and gives
what happened, or raises what went wrong: the exception of the earliest rank (in simulated time, then by number), a
deadlock, a time-out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simdist.cluster import Cluster
from simdist.comm.call import Call
from simdist.errors import DeadlockError, DistTimeoutError
from simdist.trace.span import MAIN
from simdist.units import format_time

from . import deadlock
from .kernel import Kernel, Task
from .meeting import Meetings
from .network import Network
from .rank import SimRank
from .replay import Bundle
from .speed import Speed

__all__ = ["Job"]


class Job:
    """One simulated run of one function.

    Args:
        cluster: the machines.
        world_size: number of ranks.
        program: what a rank does: called with the SimRank inside its greenlet, returns the rank's result.
        seed: names all random numbers of the run.
        device: ``"real"`` or ``"meta"``.
        checked: compare the ranks' calls with each other.
        traced: keep spans, messages and memory points.
        eager_limit: messages of at most this many bytes are sent without their receiver.
        timeout: explicit limit for any one wait, simulated seconds, or None.
        stragglers: rank -> factor on its computing times.
        jitter: standard deviation of the logarithm of a random factor on all computing times.
        lazy: False for strict mode.
        shortcut: False to run every collective message by message.
    """

    def __init__(
        self,
        cluster: Cluster,
        world_size: int,
        program: Callable[[SimRank], Any],
        *,
        seed: int = 0,
        device: str = "real",
        checked: bool = True,
        traced: bool = True,
        eager_limit: int = 0,
        timeout: float | None = None,
        stragglers: Mapping[int, float] | None = None,
        jitter: float = 0.0,
        lazy: bool = True,
        shortcut: bool = True,
    ) -> None:
        self.cluster, self.world_size, self.program = cluster, world_size, program
        self.seed, self.device, self.checked, self.timeout = seed, device, checked, timeout
        self.spans: list[Any] | None = [] if traced else None
        self.flows: list[Any] | None = [] if traced else None
        self.memory: list[Any] | None = [] if traced else None
        self.kernel = Kernel(lazy=lazy)
        self.network = Network(self.kernel, cluster, eager_limit, self.flows)
        self.meetings = Meetings(self.kernel, self.network, checked=checked, shortcut=shortcut)
        self.results: list[Any] = [None] * world_size
        self.failures: list[tuple[float, int, BaseException]] = []
        factors = stragglers or {}
        self.ranks = [SimRank(self, r, Speed(r, factors.get(r, 1.0), jitter, seed)) for r in range(world_size)]
        self.kernel.ready.reverse()  # the stack then starts with rank 0

    def body(self, rank: SimRank) -> Callable[[Any], None]:
        """The main function of a rank's greenlet."""

        def main(_: object = None) -> None:
            self.results[rank.rank] = self.program(rank)

        return main

    # -- running ----------------------------------------------------------------------------------------------------

    def run(self) -> float:
        """Run to the end; returns the simulated seconds that the whole job took.

        Raises:
            DeadlockError: nothing could run any more.
            DistTimeoutError: the same, with an explicit timeout.
            BaseException: what left a rank's function, with the rank and the time noted on it.
        """
        try:
            self.kernel.run(self._failed)
            if self.failures:
                self._raise_first()
            unfinished = [r for r in self.ranks if not r.main.finished]
            if unfinished:
                self._raise_stuck(unfinished)
        finally:
            self.kernel.close()
            for rank in self.ranks:
                rank.allocator.points = None
        return self._end()

    def _failed(self, task: Task, error: BaseException) -> None:
        self.failures.append((task.now, task.rank, error))
        self.kernel.stop_time = min(self.kernel.stop_time, task.now)

    def _raise_first(self) -> None:
        ordered = sorted(self.failures, key=lambda failure: failure[:2])
        time, rank, error = ordered[0]
        if not any("rank " in note for note in getattr(error, "__notes__", ())):
            error.add_note(f"raised in rank {rank} at {format_time(time)} of simulated time")
        for time, rank, other in ordered[1:4]:
            if other is not error and str(other) != str(error):
                error.add_note(f"rank {rank} failed too, at {format_time(time)}: {type(other).__name__}: {other}")
        raise error

    def _raise_stuck(self, unfinished: list[SimRank]) -> None:
        mains = [rank.main for rank in self.ranks]
        if self.timeout is not None:
            first = min(unfinished, key=lambda rank: (rank.main.now, rank.rank))
            when = format_time(first.main.now + self.timeout)
            headline = f"rank {first.rank} at {when}: waited longer than its timeout of {format_time(self.timeout)}."
            raise DistTimeoutError(deadlock.describe(mains, headline=headline))
        raise DeadlockError(deadlock.describe(mains))

    def late(self, rank: SimRank, call: Call, entered: float) -> None:
        """A collective took longer than the explicit timeout allows."""
        assert self.timeout is not None
        raise DistTimeoutError(
            f"rank {rank.rank} at {format_time(entered + self.timeout)}: {call.full_label} took "
            f"longer than its timeout of {format_time(self.timeout)}. Give it more time, or look for the late rank."
        )

    def messages(self) -> Iterator[Any]:
        """The rows of all messages; those of replayed collectives are unpacked."""
        for item in self.flows or ():
            if isinstance(item, Bundle):
                yield from item.rows()
            else:
                yield item

    def _end(self) -> float:
        ends = [max([r.main.now, *(s.now for s in r.streams.values())]) for r in self.ranks]
        end = max(ends, default=0.0)
        if self.spans is not None:
            for rank in self.ranks:
                if rank.main.now < end:
                    self.spans.append((rank.rank, MAIN, "idle", "returned", rank.main.now, end, None))
        return end
