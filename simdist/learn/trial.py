"""What happens when a learner's function is tried on one case?

It runs on simulated ranks; what comes back is a value, whatever the function did. An exception, a deadlock, an
endless loop or ``sys.exit`` in it is a failure with a text, never an exception of the checker.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simdist.backends import context
from simdist.backends.watchdog import EndlessLoopError, GiveUp
from simdist.cluster import Cluster
from simdist.launch import run
from simdist.learn.case import Case
from simdist.learn.classroom import classroom
from simdist.learn.failure import Failure, explain
from simdist.learn.limit import host_limit
from simdist.result import Run
from simdist.sim.kernel import Stopped
from simdist.sim.rank import SimRank
from simdist.trace import Trace

__all__ = ["HOST_SECONDS", "SIMULATED_SECONDS", "Trial", "attempt", "rank_program"]

HOST_SECONDS = 20.0
"""Seconds of the host after which one trial is given up (the slowest reference solution takes below one)."""

SIMULATED_SECONDS = 0.5
"""Simulated seconds after which a trial is given up: ten times what the slowest serial program of any exercise takes."""

Program = Callable[[Callable[..., Any], Any, Case, int], Any]
Given = Callable[[Case, int], Any]


@dataclass(frozen=True)
class Trial:
    """One run of a learner's function.

    Attributes:
        case: the world.
        run: what happened, or None if it failed.
        failure: why it failed, or None.
        expected: what each rank should have ended with.
        warnings: what the run had to say about the function.
    """

    case: Case
    run: Run | None
    failure: Failure | None
    expected: Sequence[Any]
    warnings: tuple[str, ...] = ()

    @property
    def ended(self) -> Run:
        """The run of a trial that did not fail."""
        assert self.run is not None, "measures are taken of trials that have ended"
        return self.run

    @property
    def results(self) -> list[Any]:
        """What each rank ended with."""
        return self.ended.results

    @property
    def time(self) -> float:
        """Seconds of simulated time."""
        return self.ended.time

    @property
    def trace(self) -> Trace:
        """What happened when."""
        return self.ended.trace

    @property
    def peaks(self) -> list[int]:
        """The most bytes that each rank's accelerator held at one time."""
        return [use.peak for use in self.ended.memory]


def rank_program(rank: int, world_size: int, packed: bytes, program: Program, given: Given, case: Case) -> Any:
    """What a rank does: unpack its own copy of the learner's function, make its inputs, call it.

    Raises:
        EndlessLoopError: the rank's simulated clock has passed ``SIMULATED_SECONDS``.
        Exception: what the learner's function raised.
    """
    fn, _, _ = pickle.loads(packed)
    world = context.require("an exercise")
    if not isinstance(world, SimRank):
        return program(fn, given(case, rank), case, rank)
    world.kernel.stop_time = min(world.kernel.stop_time, SIMULATED_SECONDS)
    try:
        return program(fn, given(case, rank), case, rank)
    except Stopped:
        if world.now() <= SIMULATED_SECONDS:
            raise  # the run ends for another reason, which somebody else tells
        raise EndlessLoopError(
            f"rank {rank}: {SIMULATED_SECONDS:g} s of simulated time have passed, and the function has not returned. Right "
            "programs take milliseconds: does a loop sleep or poll for something that never comes?"
        ) from None


def attempt(
    name: str,
    packed: bytes,
    program: Program,
    given: Given,
    case: Case,
    expected: Sequence[Any],
    *,
    cluster: Cluster | None = None,
    backend: str = "sim",
    seconds: float = HOST_SECONDS,
    filename: str = "",
) -> Trial:
    """Try a packed function on one case.

    Args:
        name: what the run is called in pictures.
        packed: the learner's function (``isolation.by_value``).
        program: calls it; ``Exercise.program``.
        given: a rank's inputs; ``Exercise.given``.
        case: the world.
        expected: what each rank should end with.
        cluster: the machines; None for the classroom's.
        backend: ``"sim"`` or ``"process"``.
        seconds: of the host, after which it is given up.
        filename: the learner's file, to find the line of an exception.
    """
    done: Run | None = None
    failure: Failure | None = None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            with host_limit(seconds):
                settings = _settings(case, cluster or classroom(case.world_size, case.scale), backend, seconds)
                done = _named(run(rank_program, packed, program, given, case, **settings), name)
        except (Exception, GiveUp) as error:  # whatever the function does becomes a row of the table
            failure = explain(error, case, filename, seconds)
    return Trial(case, done, failure, expected, tuple(dict.fromkeys(str(one.message) for one in heard)))


def _settings(case: Case, cluster: Cluster, backend: str, seconds: float) -> dict[str, Any]:
    """How ``run`` is called: half of the host's time is left for what a run does around the ranks."""
    return {
        "world_size": case.world_size,
        "cluster": cluster,
        "backend": backend,
        "seed": case.seed,
        "watchdog": seconds / 2,
        "timeout": None if backend == "sim" else seconds / 2,
    }


def _named(done: Run, name: str) -> Run:
    """The run under the exercise's name instead of the checker's function's."""
    old = done.trace
    meta = old.meta | {"name": name}
    rows = (old.span_rows, old.flow_rows, old.memory_rows)
    return replace(done, name=name, trace=Trace(*rows, world_size=old.world_size, end=old.end, meta=meta))
