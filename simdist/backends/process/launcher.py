"""How is one function run on every rank of a world of real processes?

Pack it, take workers from the pool, let a crew see the run through, give the workers back. Whatever ends a run except success
(a rank that fails, Ctrl-C) ends every worker of it at once: nothing of a run is ever left behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simdist.backends.process.crew import Crew
from simdist.backends.process.job import Job, Surroundings
from simdist.backends.process.mesh import wire_named
from simdist.backends.process.options import ProcessOptions, ProcessOutcome
from simdist.backends.process.pool import pool
from simdist.backends.process.shipment import ship

__all__ = ["ENTRY", "launch"]

ENTRY = "simdist.launch:rank_entry"
"""The entry function that makes a process group before it calls the user's function."""


def launch(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    *,
    world_size: int,
    options: ProcessOptions | None = None,
    entry: str = ENTRY,
) -> ProcessOutcome:
    """Run ``fn`` on ``world_size`` processes of this machine and wait for all of them.

    Args:
        fn: the function; travels by value if a worker could not import it.
        args: its arguments; every rank gets its own copy.
        world_size: number of ranks; 0 gives an empty outcome.
        options: see `ProcessOptions`.
        entry: dotted path ``module:name`` of what a worker calls, see `job.Job`.

    Raises:
        DistBackendError: the function cannot be sent, or the workers do not start.
        RankFailedError: a rank was killed, or left.
        DistTimeoutError: a rank waited in vain.
        BaseException: what a rank raised, with the rank noted on it.
    """
    options = options or ProcessOptions()
    if world_size < 0:
        raise ValueError(f"world_size must not be negative, got {world_size}")
    wire = wire_named(options.wire)
    parcel = ship(fn, tuple(args), options)
    if world_size == 0:
        return ProcessOutcome([], [], [])
    here = Surroundings.here()
    jobs = [Job(rank, world_size, entry, parcel, here) for rank in range(world_size)]
    return _see_through(jobs, wire, options.start_timeout)


def _see_through(jobs: list[Job], wire: str, patience: float) -> ProcessOutcome:
    workers = pool(wire)
    children = workers.take(len(jobs), patience)
    try:
        outcome = Crew(children, jobs, wire, patience).run()
    except BaseException:
        for child in children:
            child.strike()
        for child in children:
            child.bury()
        raise
    workers.give(children)
    return outcome
