"""Who carries the bytes in simulation? Nobody: they stay in one process, and a clock says how long it would have taken."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from simdist.comm.choose import Chooser
from simdist.errors import UnknownNameError
from simdist.progress import pulse
from simdist.sim import LEVELS, Job, SimRank
from simdist.sim.collector import set_aside
from simdist.trace.rows import Row, Rows

from .output import prefixed_output
from .program import Program
from .settings import MemoryUse, Outcome, Settings
from .unwaited import remarks
from .watchdog import watchdog
from .world import World

__all__ = ["launch"]

Entry = Callable[[World, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


@lru_cache(maxsize=1)
def _blas() -> Any:
    """The BLAS libraries of this process (looking for them takes some milliseconds, so once)."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def launch(program: Program, entry: Entry, settings: Settings) -> Outcome:
    """Run the program on simulated ranks.

    Args:
        program: the user's function and arguments.
        entry: what makes a rank out of a World: sets its context, calls the function.
        settings: how.

    Raises:
        Whatever left a rank's function; DeadlockError, DistTimeoutError, CollectiveMismatchError of the simulator.
    """
    if settings.network not in LEVELS:
        raise UnknownNameError("network level", settings.network, LEVELS)
    notes: list[str] = []
    copies = program.copies(notes)

    def body(rank: SimRank) -> Any:
        return entry(rank, *copies())

    job = Job(
        settings.cluster,
        settings.world_size,
        body,
        seed=settings.seed,
        device=settings.device,
        checked=settings.checked,
        traced=settings.traced,
        eager_limit=settings.eager_limit,
        timeout=settings.timeout,
        stragglers=settings.stragglers,
        jitter=settings.jitter,
        lazy=not settings.strict,
        shortcut=settings.shortcut,
        network=settings.network,
        chooser=Chooser(settings.cluster, settings.algorithms),
    )

    with (
        pulse(f"simulating {program.name}", job.heartbeat),
        prefixed_output(),
        _blas().limit(limits=1),
        _global_random_state() as remarks,
        set_aside(),
        watchdog(settings.watchdog, job.heartbeat, job.running),
    ):
        time = job.run()
    for remark in remarks:
        warnings.warn(remark, stacklevel=4)
    notes += remarks
    notes += job.meetings.notes(settings.network)
    return _outcome(job, time, notes)


def _remarks(job: Job) -> Iterator[str]:
    """What a person should know about how the run went."""
    for rank in job.ranks:
        yield from rank.notes
        yield from remarks(rank.rank, list(rank.unwaited.values()))
    if job.network.num_messages + job.meetings.num_replayed and not any(rank.billed for rank in job.ranks):
        yield (
            "no computing was billed: plain numpy takes no simulated time. Use simdist Tensors, or charge the work with "
            "sd.compute(flops=..., bytes=...)."
        )


def _random_states() -> tuple[object, str]:
    return random.getstate(), repr(np.random.get_state(legacy=False))  # noqa: NPY002  it is only read


@contextmanager
def _global_random_state() -> Iterator[list[str]]:
    """Tell if a rank has touched a random state that all simulated ranks share (each real process has its own)."""
    notes: list[str] = []
    before = _random_states()
    yield notes
    after = _random_states()
    if before != after:
        notes.append(
            "a rank used numpy's or Python's global random state, which all simulated ranks share: results depend on the "
            "order in which ranks run. Make a generator of its own: np.random.default_rng([seed, rank])."
        )


def _span_order(row: Row) -> tuple[Any, ...]:
    return row[4], row[0], row[1], row[5]


def _message_order(row: Row) -> tuple[Any, ...]:
    return row[3], row[0], row[1], row[4]


def _outcome(job: Job, time: float, notes: list[str]) -> Outcome:
    use = [
        MemoryUse(r.rank, a.capacity, a.peak, a.peak_time, a.at_peak, a.peaks)
        for r in job.ranks
        for a in (r.allocator,)
    ]
    notes += _remarks(job)
    return Outcome(
        job.results,
        time,
        [rank.main.now for rank in job.ranks],
        Rows(job.site.spans or [], _span_order),
        Rows(job.site.flows or [], _message_order),
        job.memory or [],
        use,
        notes,
    )
