"""How is one function run on ranks that are threads?

Each rank has an endpoint over its end of the transport, and a thread that runs the function; the caller waits for all of them.
If a rank fails, the caller stops the others, and raises what the failed one raised. A thread in compiled code cannot be stopped:
after a while it is left alone, and the error says so.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import queue
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from simdist.backends.output import prefixed_output
from simdist.backends.process import failure
from simdist.backends.process.failure import Report
from simdist.backends.process.options import ProcessOptions
from simdist.backends.process_world import ProcessWorld, outcome_of, real_options
from simdist.backends.program import Program
from simdist.backends.settings import Outcome, Settings
from simdist.backends.stoppable_endpoint import StoppableEndpoint, StoppedError

from .byte_transport import ByteTransport, Factory, ends
from .wires import ByteWires

__all__ = ["GRACE_SECONDS", "launch"]

GRACE_SECONDS = 10.0
"""How long a failed run waits for the ranks that have not failed to stop."""

_INTERRUPT = 0.3  # seconds in which a rank that waits stops by itself; then it is interrupted
_LOOK = 0.05
_JOIN = 2.0  # seconds in which the threads of the wires must end


class _Endpoint(StoppableEndpoint):
    """An endpoint whose waits end when its transport fails."""

    def __init__(self, wires: ByteWires, options: ProcessOptions) -> None:
        self.wires = wires
        super().__init__(wires.transport.rank, wires.transport.size, wires, options.timeout, options.eager_limit)

    def late_error(self) -> BaseException | None:
        return self.wires.error or super().late_error()


class _Rank:
    """One rank: its endpoint, its world, its thread.

    Attributes:
        told: (result, what ``finish`` gave) of a rank that returned.
        report: why it failed, or None.
        over: whether its function has come to an end.
    """

    def __init__(self, name: str, transport: ByteTransport, options: ProcessOptions, news: Callable[[], None]) -> None:
        self.endpoint = _Endpoint(ByteWires(name, transport), options)
        self.world = ProcessWorld(self.endpoint, options)
        self.world.backend = name
        self.told: tuple[Any, Any] | None = None
        self.report: Report | None = None
        self.over = False
        self._news = news
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, call: Callable[[], Any]) -> None:
        """Run ``call`` on a thread of its own."""
        self._thread = threading.Thread(
            target=self._live, args=(call,), name=f"simdist-rank-{self.endpoint.rank}", daemon=True
        )
        self._thread.start()

    def _live(self, call: Callable[[], Any]) -> None:
        try:
            self._run(call)
        except BaseException as error:
            if not isinstance(error, StoppedError):
                waits, claims = getattr(error, "waits", ()), getattr(error, "claims", ())
                self.report = failure.report(self.endpoint.rank, self.endpoint.now(), error, waits, claims)
            self.world.abandon()
        while not self.over:
            with contextlib.suppress(StoppedError), self._lock:  # one that was on its way arrives here
                self.over = True
        with contextlib.suppress(StoppedError):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), None)
        self._news()

    def _run(self, call: Callable[[], Any]) -> None:
        self.endpoint.rank_thread = threading.get_ident()
        result = contextvars.Context().run(call)
        late = self.endpoint.late_error()
        if late is not None:
            raise late
        self.told = result, self.world.finish()
        self.endpoint.leave()

    def interrupt(self) -> None:
        """Raise in the thread, unless its function has ended."""
        with self._lock:
            if not self.over:
                self.endpoint.interrupt()

    def close(self) -> None:
        """Let go of the endpoint; the transport's threads have been told to end."""
        self.endpoint.close()


def launch(name: str, factory: Factory, program: Program, entry: Callable[..., Any], settings: Settings) -> Outcome:
    """Run the program on threads, over a learner's transport.

    Args:
        name: of the backend.
        factory: makes the transports.
        program: the user's function and arguments.
        entry: what makes a rank out of a World.
        settings: how.

    Raises:
        DistBackendError: the factory does not give what it must, or a transport fails.
        BaseException: what a rank raised, with the rank noted on it.
    """
    options = real_options(settings, name, entry, program)
    notes: list[str] = []
    copies = program.copies(notes)
    news: queue.SimpleQueue[None] = queue.SimpleQueue()
    transports = ends(name, factory, settings.world_size)
    ranks = [_Rank(name, transport, options, lambda: news.put(None)) for transport in transports]
    calls = [_entered(entry, rank.world, copies()) for rank in ranks]
    stuck: list[int] = []
    try:
        with prefixed_output(), threadpool_limits(1), warnings.catch_warnings():
            epoch = time.perf_counter()
            for rank, call in zip(ranks, calls, strict=True):
                rank.endpoint.start(epoch)
                rank.start(call)
            try:
                _wait(ranks, news)
            finally:
                stuck = _stop(ranks)
    finally:
        _close(ranks, transports)
    reports = [rank.report for rank in ranks if rank.report is not None]
    if reports:
        raise _verdict(ranks, reports, stuck)
    told = [rank.told for rank in ranks if rank.told is not None]
    outcome = outcome_of([result for result, _ in told], [payload for _, payload in told], settings.traced)
    outcome.notes.extend(notes)
    return outcome


def _entered(entry: Callable[..., Any], world: ProcessWorld, copy: tuple[Any, ...]) -> Callable[[], Any]:
    return lambda: entry(world, *copy)


def _wait(ranks: list[_Rank], news: queue.SimpleQueue[None]) -> None:
    """Return when all have returned, or one has failed."""
    while not all(rank.over for rank in ranks):
        with contextlib.suppress(queue.Empty):
            news.get(timeout=_LOOK)  # with a limit, so that Ctrl-C is heard
        if any(rank.report is not None for rank in ranks):
            return


def _stop(ranks: list[_Rank]) -> list[int]:
    """Stop the ranks that still run; returns those that cannot be stopped."""
    running = [rank for rank in ranks if not rank.over]
    for rank in running:
        rank.endpoint.stop()
        rank.endpoint.wires.kick()
    interrupt, end = time.monotonic() + _INTERRUPT, time.monotonic() + GRACE_SECONDS
    while (left := [rank for rank in running if not rank.over]) and time.monotonic() < end:
        if time.monotonic() > interrupt:
            interrupt = time.monotonic() + _INTERRUPT
            for rank in left:
                rank.interrupt()
        time.sleep(0.002)
    return [rank.endpoint.rank for rank in left]


def _close(ranks: list[_Rank], transports: list[Any]) -> None:
    """Every rank says goodbye before any closes, so that no thread waits for a message that will not come."""
    for rank in ranks:
        rank.endpoint.wires.goodbye()
    if not any(rank.report is not None or rank.endpoint.stopped for rank in ranks):
        for rank in ranks:
            rank.endpoint.wires.join(_JOIN)
    for rank in ranks:
        rank.close()
    for rank in ranks:
        rank.endpoint.wires.join(_JOIN)
    for transport in transports:
        if callable(getattr(transport, "close", None)):
            transport.close()


def _verdict(ranks: list[_Rank], reports: list[Report], stuck: list[int]) -> BaseException:
    others = {
        rank.endpoint.rank: ["has returned"] if rank.told is not None else rank.endpoint.doing
        for rank in ranks
        if rank.report is None
    }
    error = failure.verdict(reports, others, [claim for rank in ranks for claim in rank.endpoint.posted], "thread")
    if stuck:
        error.add_note(
            f"rank {', '.join(map(str, stuck))} did not stop within {GRACE_SECONDS:g} s after this (it may be in compiled "
            "code): its thread goes on."
        )
    return error
