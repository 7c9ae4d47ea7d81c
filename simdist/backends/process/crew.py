"""How does the caller see one run through?

It hands out the job, connects the workers, waits until all are ready, gives the common start, prints what the ranks print,
and collects results until all have returned or one has failed. On a failure it listens a moment longer (other ranks may have
failed as well, and if a rank waited in vain, all are asked what they are doing) and then decides.
"""

from __future__ import annotations

import contextlib
import pickle
import selectors
import sys
import time
from collections.abc import Callable
from typing import Any

from simdist.backends.process import failure, mesh
from simdist.backends.process.channel import Message
from simdist.backends.process.child import Child
from simdist.backends.process.claim import Claim
from simdist.backends.process.failure import Report
from simdist.backends.process.job import Job
from simdist.backends.process.options import ProcessOutcome
from simdist.backends.process.worker import BETWEEN
from simdist.errors import DistBackendError

__all__ = ["Crew"]

_LOOK = 0.2  # seconds between looks whether a process has ended without closing its connection
_MORE = 0.1  # seconds to listen for further failures
_ANSWER = 0.5  # seconds in which ranks must say what they are doing
_EXIT = 1.0  # seconds between the end of a connection and the end of its process


class Crew:
    """The caller's side of one run.

    Args:
        children: a worker for each rank.
        jobs: the job of each rank.
        wire: ``"unix"`` or ``"tcp"``.
        patience: seconds until all must be ready.
    """

    def __init__(self, children: list[Child], jobs: list[Job], wire: str, patience: float) -> None:
        self._children, self._jobs, self._wire, self._patience = children, jobs, wire, patience
        self._ready: set[int] = set()
        self._ports: dict[int, int] = {}
        self._done: dict[int, tuple[bytes, float]] = {}
        self._reports: dict[int, Report] = {}
        self._doing: dict[int, list[str]] = {}
        self._claims: list[Claim] = []
        self._lost: set[int] = set()
        self._epoch = time.perf_counter()
        self._selector = selectors.DefaultSelector()
        for rank, child in enumerate(children):
            self._selector.register(child.channel.sock, selectors.EVENT_READ, (rank, self._converse))
            if child.process.stdout is not None:
                self._selector.register(child.process.stdout, selectors.EVENT_READ, (rank, self._overhear))

    def run(self) -> ProcessOutcome:
        """See it through.

        Raises:
            BaseException: what a rank raised, see `failure`.
            DistBackendError: the workers did not get ready in time.
        """
        try:
            self._prepare()
            self._send_all("go", self._epoch)
            self._until(lambda: len(self._done) == len(self._children), None)
            outcome = self._outcome()
            self._send_all("end")
            return outcome
        finally:
            # What was written below Python before the end is in the pipes by now.
            for rank, child in enumerate(self._children):
                for line in child.raw_lines():
                    _show(rank, line)
            self._selector.close()

    def _prepare(self) -> None:
        deadline = time.monotonic() + self._patience
        for rank, job in enumerate(self._jobs):
            self._send(rank, "job", job)
        if self._wire == "unix":
            with contextlib.suppress(OSError):  # a worker is gone: its end is noticed, and told, below
                mesh.hand_out([child.channel for child in self._children])
            self._send_all("linked")
        else:
            self._send_all("listen")
            self._until(lambda: len(self._ports) == len(self._children), deadline)
            self._send_all("ports", [self._ports[rank] for rank in range(len(self._jobs))], mesh.new_token())
        self._until(lambda: len(self._ready) == len(self._children), deadline)
        self._epoch = time.perf_counter()

    def _send_all(self, *message: Any) -> None:
        for rank in range(len(self._children)):
            self._send(rank, *message)

    def _send(self, rank: int, *message: Any) -> None:
        try:
            self._children[rank].channel.send(*message)
        except OSError:  # gone: its end is noticed where messages are received
            return

    # ---- the loop ----------------------------------------------------------------------------------------------------

    def _until(self, reached: Callable[[], bool], deadline: float | None) -> None:
        """Handle messages until ``reached()``; raise the verdict when a rank fails."""
        while not reached():
            if self._reports:
                self._hear_out()
                raise failure.verdict(list(self._reports.values()), self._doing, self._claims)
            if deadline is not None and time.monotonic() > deadline:
                raise self._late()
            self._step(_LOOK)

    def _step(self, patience: float) -> None:
        events = self._selector.select(patience)
        for key, _ in events:
            rank, handle = key.data
            handle(rank)
        if not events:
            for rank, child in enumerate(self._children):
                if rank not in self._lost and child.exit_code() is not None:
                    self._lose(rank)  # something it started holds the connection open

    def _converse(self, rank: int) -> None:
        try:
            messages = self._children[rank].channel.feed()
        except EOFError:
            self._lose(rank)
            return
        for message in messages:
            self._take(rank, message)

    def _take(self, rank: int, message: Message) -> None:
        kind, *rest = message
        if kind == "text":
            _show(rank, rest[0])
        elif kind == "ready":
            self._ready.add(rank)
        elif kind == "port":
            self._ports[rank] = rest[0]
        elif kind == "done":
            self._done[rank] = (rest[0], rest[1])
        elif kind == "failed":
            self._reports[rank] = rest[0]
        elif kind == "waits":
            self._doing[rank] = rest[0]
            self._claims += rest[1]

    def _overhear(self, rank: int) -> None:
        child = self._children[rank]
        lines = child.raw_lines()
        for line in lines:
            _show(rank, line)
        if not lines and child.exit_code() is not None and child.process.stdout is not None:
            self._selector.unregister(child.process.stdout)

    def _lose(self, rank: int) -> None:
        """A worker's connection ended: find out how its process did."""
        child = self._children[rank]
        self._lost.add(rank)
        self._selector.unregister(child.channel.sock)
        if rank in self._reports:
            return
        code = child.exit_code(_EXIT)
        for line in child.raw_lines():
            _show(rank, line)
        self._done.pop(rank, None)
        self._reports[rank] = failure.lost(rank, time.perf_counter() - self._epoch, code, list(child.last_words))

    # ---- the end -----------------------------------------------------------------------------------------------------

    def _hear_out(self) -> None:
        """Listen a moment longer: for other failures, and for what each rank is doing if one waited in vain."""
        stuck = all(report.stuck for report in self._reports.values())
        deadline = time.monotonic() + (_ANSWER if stuck else _MORE)
        asked = [rank for rank in range(len(self._children)) if rank not in self._reports] if stuck else []
        for rank in asked:
            self._send(rank, "ask")
        while (left := deadline - time.monotonic()) > 0:
            if stuck and all(self._has_told(rank) for rank in asked):
                break
            self._step(min(left, _LOOK))
        for rank in asked:
            self._doing.setdefault(rank, ["does not answer (it is busy in compiled code)"])

    def _has_told(self, rank: int) -> bool:
        """Whether a rank has said what it does; one that is between two waits is about to fail, or to wait again."""
        return rank in self._reports or self._doing.get(rank, [BETWEEN]) != [BETWEEN]

    def _late(self) -> DistBackendError:
        missing = [rank for rank in range(len(self._children)) if rank not in self._ready]
        return DistBackendError(
            f"ranks {missing} were not ready within {self._patience:g} s (start_timeout): the modules that the function "
            "needs take that long to import, or the machine is overloaded"
        )

    def _outcome(self) -> ProcessOutcome:
        pairs = [pickle.loads(self._done[rank][0]) for rank in range(len(self._children))]
        times = [self._done[rank][1] for rank in range(len(self._children))]
        return ProcessOutcome([result for result, _ in pairs], times, [payload for _, payload in pairs])


def _show(rank: int, line: str) -> None:
    sys.stdout.write(f"[rank {rank}] {line}\n")
    sys.stdout.flush()
