"""How is one function run on every rank of ``MPI.COMM_WORLD``?

``sd.run(..., backend="mpi")`` is collective: every process that ``mpiexec`` started calls it with the same arguments, is one rank
of the run, and gets the whole ``Run``. If a rank fails, every process raises the same exception, which names the rank.

1. All say hello: do they ask for the same run? Then they start together; each clock counts from there.
2. The function runs on the main thread. A failure stops all others (`endpoint`).
3. All share what became of them (`assembly`): results and traces, or who failed and what the others were doing.

A rank that is stuck in compiled code when another fails cannot be stopped by Python: then the failed rank shows its error and
ends all processes with ``MPI_Abort``.
"""

from __future__ import annotations

import contextlib
import contextvars
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from simdist.backends.output import prefixed_output
from simdist.backends.process import failure
from simdist.backends.process.claim import Claim
from simdist.backends.process.failure import Report
from simdist.backends.process.shipment import pack
from simdist.backends.process_world import ProcessWorld, outcome_of, real_options
from simdist.backends.program import Program
from simdist.backends.settings import Outcome, Settings
from simdist.backends.stoppable_endpoint import StoppedError
from simdist.errors import CollectiveMismatchError, DistBackendError

from .assembly import Assembly, LateError
from .endpoint import MpiEndpoint
from .library import communicators, mpi, station
from .native import Native
from .wires import MpiWires

__all__ = ["GRACE_SECONDS", "START_SECONDS", "MpiWorld", "launch"]

START_SECONDS = 60.0
"""How long the ranks wait for each other at the start of a run."""

GRACE_SECONDS = 10.0
"""How long a failed rank waits for the others to stop."""


class MpiWorld(ProcessWorld):
    """One rank in an MPI process."""

    backend = "mpi"


class _Told(NamedTuple):
    """What a rank tells at the end.

    Attributes:
        report: why it failed, or None.
        packed: (result, payload) of a rank that returned.
        seconds: when it returned.
        doing: what it was doing when it was stopped.
        claims: what it had posted then.
    """

    report: Report | None = None
    packed: bytes = b""
    seconds: float = 0.0
    doing: tuple[str, ...] = ("has returned",)
    claims: tuple[Claim, ...] = ()


def launch(program: Program, entry: Callable[..., Any], settings: Settings) -> Outcome:
    """Run the program on the processes of ``MPI.COMM_WORLD``. Every one of them has to call it.

    Args:
        program: the user's function and arguments.
        entry: what makes a rank out of a World.
        settings: how.

    Raises:
        DistBackendError: no MPI, another number of processes than ranks, or a process that did not come.
        CollectiveMismatchError: the processes ask for different runs.
        BaseException: what a rank raised, with the rank noted on it.
    """
    options = real_options(settings, "mpi", entry, program)
    rank, size = station()
    if size != settings.world_size:
        raise DistBackendError(
            f"world_size={settings.world_size}, but this program runs as {size} MPI process{'es' * (size > 1)}. Start it with "
            f"mpiexec -n {settings.world_size} (mpiexec -n {settings.world_size} simdist run FILE:FUNCTION --backend mpi, or "
            f"mpiexec -n {settings.world_size} python FILE), or ask for world_size={size}."
        )
    ours = communicators()
    _hello(Assembly(mpi(), ours.control), program, settings)
    endpoint = MpiEndpoint(rank, size, MpiWires(mpi(), ours.frames, ours.data), options.timeout, options.eager_limit)
    try:
        told = _be_a_rank(endpoint, program, entry, options, settings)
        everything = _share(endpoint, told)
    finally:
        endpoint.close()
    reports = [each.report for each in everything if each.report is not None]
    if reports:
        others = {r: list(each.doing) for r, each in enumerate(everything) if each.report is None}
        raise failure.verdict(reports, others, [claim for each in everything for claim in each.claims])
    pairs = [pickle.loads(each.packed) for each in everything]
    return outcome_of([result for result, _ in pairs], [payload for _, payload in pairs], settings.traced)


def _hello(assembly: Assembly, program: Program, settings: Settings) -> None:
    """Compare what the ranks ask for; on return all have come."""
    asked = {
        "function": program.name, "cluster": settings.cluster.name, "seed": settings.seed, "device": settings.device,
        "eager_limit": settings.eager_limit, "checked": settings.checked, "timeout": settings.timeout,
        "native_collectives": settings.native_collectives,
    }  # fmt: skip
    try:
        answers = [pickle.loads(each) for each in assembly.share(pickle.dumps(asked), lambda: START_SECONDS)]
    except LateError:
        raise DistBackendError(
            f"not every MPI process has called sd.run(..., backend='mpi') within {START_SECONDS:g} s. It is collective: each "
            "process that mpiexec started has to call it, as often and in the same order as the others."
        ) from None
    for rank, answer in enumerate(answers):
        for name, value in answer.items():
            if value != answers[0][name]:
                raise CollectiveMismatchError(
                    f"sd.run(..., backend='mpi') is collective, but rank 0 calls it with {name}={answers[0][name]!r} and rank "
                    f"{rank} with {name}={value!r}. Call it with the same arguments on every process."
                )


def _be_a_rank(
    endpoint: MpiEndpoint, program: Program, entry: Callable[..., Any], options: Any, settings: Settings
) -> _Told:
    """Run the function and say what became of it."""
    endpoint.start(time.perf_counter())
    world = MpiWorld(endpoint, options)
    if settings.native_collectives:
        world.native = Native(endpoint, settings.checked, options.timeout)
    told = _Told()
    try:
        try:
            with prefixed_output(), _line_by_line(), threadpool_limits(1), warnings.catch_warnings():
                result = contextvars.Context().run(entry, world, *_copies(program))
            late = endpoint.late_error()
            if late is not None:
                raise late
            seconds = endpoint.now()
            told = _Told(packed=_packed(endpoint.rank, (result, world.finish())), seconds=seconds)
        finally:
            endpoint.end()
        endpoint.leave()
    except StoppedError:
        told = _Told(doing=tuple(endpoint.doing), claims=tuple(endpoint.posted))
    except BaseException as error:
        waits, claims = getattr(error, "waits", ()), getattr(error, "claims", ())
        told = _Told(failure.report(endpoint.rank, endpoint.now(), error, waits, claims))
        endpoint.abort()
    return told


def _copies(program: Program) -> tuple[Any, ...]:
    """The rank's own copy of (fn, args, kwargs), where they can be copied: a run changes nothing of its caller's."""
    try:
        return Program.unpack(program.pack())
    except DistBackendError:
        return program.fn, program.args, dict(program.kwargs or {})


def _packed(rank: int, outcome: tuple[Any, Any]) -> bytes:
    try:
        return pack(outcome)
    except Exception as error:
        raise DistBackendError(
            f"rank {rank} returned a {type(outcome[0]).__name__} that cannot be sent to the other ranks "
            f"({type(error).__name__}: {error}). Return numbers, arrays or plain data."
        ) from error


def _share(endpoint: MpiEndpoint, told: _Told) -> list[_Told]:
    """What every rank tells."""
    failed = told.report is not None

    def limit() -> float | None:
        return GRACE_SECONDS if failed or endpoint.stopped else None

    assembly = Assembly(mpi(), communicators().control, endpoint.poll, endpoint.mutex)
    try:
        everything: list[_Told] = [pickle.loads(each) for each in assembly.share(pickle.dumps(told), limit)]
        failed = any(each.report is not None for each in everything)
        _drain(endpoint, assembly, limit)
    except LateError:
        _give_up(endpoint.rank, told)
    return everything


def _drain(endpoint: MpiEndpoint, assembly: Assembly, limit: Callable[[], float | None]) -> None:
    """Return when everything that was sent has arrived, everywhere: the next run begins with empty channels.

    That a send is complete says nothing: MPI may keep a small message. So messages are counted. What arrives may be answered, so
    they are counted until two counts are equal.
    """
    before: list[Any] = []
    while True:
        counts = [pickle.loads(each) for each in assembly.share(pickle.dumps(endpoint.traffic), limit)]
        due = [sent[endpoint.rank] for sent, _ in counts]
        if counts == before and all(
            sent[b] == counts[b][1][a] for a, (sent, _) in enumerate(counts) for b in range(len(counts))
        ):
            return
        before = counts
        assembly.meet(partial(_has_arrived, endpoint, due), limit)


def _has_arrived(endpoint: MpiEndpoint, due: list[int]) -> bool:
    """Whether so many messages have come from each rank, and nothing is under way."""
    return endpoint.quiet and all(got >= want for got, want in zip(endpoint.traffic[1], due, strict=True))


def _give_up(rank: int, told: _Told) -> None:
    """Some rank does not stop: show why, and end all processes."""
    if told.report is not None:
        error = failure.verdict([told.report], {})
        sys.stderr.write(
            f"rank {rank}: {type(error).__name__}: {error}\n{told.report.trace}"
            f"Not every rank has stopped within {GRACE_SECONDS:g} s after this (one may be in compiled code): MPI_Abort.\n"
        )
        sys.stderr.flush()
    else:
        time.sleep(1.0)  # the one that failed has more to say
    mpi().COMM_WORLD.Abort(1)


@contextlib.contextmanager
def _line_by_line() -> Iterator[None]:
    """Each line leaves at once: mpiexec mixes the output of the ranks, and lines should not be cut."""
    streams = [s for s in (sys.__stdout__, sys.__stderr__) if s is not None and hasattr(s, "reconfigure")]
    before = [stream.line_buffering for stream in streams]
    for stream in streams:
        stream.reconfigure(line_buffering=True)
    try:
        yield
    finally:
        for stream, was in zip(streams, before, strict=True):
            stream.reconfigure(line_buffering=was)
