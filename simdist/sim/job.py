"""What is one simulated run?

A job puts the parts together: the kernel, the network, the ranks, the rows of the trace. ``run`` runs it to the end
and gives what happened, or raises what went wrong: the exception of the earliest rank (in simulated time, then by
number), a deadlock, a time-out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simdist.cluster import Cluster
from simdist.errors import DeadlockError, DistTimeoutError, EndlessLoopError
from simdist.trace.rows import unpacked
from simdist.trace.span import MAIN
from simdist.units import format_time

from . import deadlock
from .kernel import Task
from .rank import SimRank
from .site import Site
from .speed import Speed

__all__ = ["Job"]


class Job:
    """One simulated run of one function.

    Args:
        cluster: the machines.
        world_size: number of ranks.
        program: what a rank does: called with the SimRank inside its greenlet, returns the rank's result.
        seed: of the stragglers' and the jitter's random numbers, and of all others of the run.
        stragglers: rank -> factor on its computing times.
        jitter: standard deviation of the logarithm of a random factor on all computing times.
        options: the rest goes to ``Site``.
    """

    def __init__(
        self,
        cluster: Cluster,
        world_size: int,
        program: Callable[[SimRank], Any],
        *,
        seed: int = 0,
        stragglers: Mapping[int, float] | None = None,
        jitter: float = 0.0,
        **options: Any,
    ) -> None:
        self.site = site = Site(cluster, world_size, seed=seed, **options)
        self.kernel, self.network, self.meetings = site.kernel, site.network, site.meetings
        self.memory, self.timeout = site.memory, site.timeout
        self.results: list[Any] = [None] * world_size
        self.failures: list[tuple[float, int, BaseException]] = []
        factors = stragglers or {}

        def main(rank: SimRank) -> None:
            self.results[rank.rank] = program(rank)

        self.ranks = [SimRank(site, r, Speed(r, factors.get(r, 1.0), jitter, seed), main) for r in range(world_size)]
        self.kernel.ready.reverse()  # the stack then starts with rank 0

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
        # after an endless loop nobody goes on: the next rank may well be in the same loop
        self.kernel.stop(-1.0 if isinstance(error, EndlessLoopError) or not isinstance(error, Exception) else task.now)

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
        mains, hints = [rank.main for rank in self.ranks], self.network.crossings()
        if self.timeout is not None:
            first = min(unfinished, key=lambda rank: (rank.main.now, rank.rank))
            when = format_time(first.main.now + self.timeout)
            headline = f"rank {first.rank} at {when}: waited longer than its timeout of {format_time(self.timeout)}."
            raise DistTimeoutError(deadlock.describe(mains, headline=headline, hints=hints))
        raise DeadlockError(deadlock.describe(mains, hints=hints))

    def running(self) -> int | None:
        """The rank that runs now, or None."""
        task = self.kernel.current
        return None if task is None else task.rank

    def heartbeat(self) -> int:
        """A number that grows as long as ranks are resumed, meet, talk, or work is billed."""
        counts = self.kernel.heartbeat, self.meetings.num_replayed, self.network.num_messages
        return sum(counts) + sum(rank.billed for rank in self.ranks)

    @property
    def spans(self) -> list[Any] | None:
        """The rows of all spans, or None if the run is not traced."""
        return None if self.site.spans is None else list(unpacked(self.site.spans))

    def messages(self) -> Iterator[Any]:
        """The rows of all messages."""
        return unpacked(self.site.flows or ())

    def _end(self) -> float:
        ends = [max([r.main.now, *(s.now for s in r.streams.values())]) for r in self.ranks]
        end = max(ends, default=0.0)
        if self.site.spans is not None:
            for rank in self.ranks:
                if rank.main.now < end:
                    self.site.spans.append((rank.rank, MAIN, "idle", "returned", rank.main.now, end, None))
        return end
