"""What does a worker process do all its life?

It waits for a job, connects to the other ranks, unpacks the function, says that it is ready, runs at the common start, sends
back the result or the failure, cleans up, and waits for the next job. The user's main script is never imported, so a script
needs no ``if __name__ == "__main__"``. Two threads: the main one works, the control one listens to the caller; when the
caller is gone the process ends.
"""

from __future__ import annotations

import contextvars
import gc
import importlib
import os
import queue
import random
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from simdist.backends.process import mesh
from simdist.backends.process.channel import Channel, Message
from simdist.backends.process.claim import Claim
from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.failure import report
from simdist.backends.process.job import Job
from simdist.backends.process.options import ProcessOptions
from simdist.backends.process.place import is_users, thread_place
from simdist.backends.process.shipment import pack
from simdist.backends.process.stream import RankStream
from simdist.backends.process.wires import Sockets
from simdist.errors import DistBackendError

__all__ = ["BETWEEN", "Worker", "bare_entry", "main"]

BETWEEN = "waits for nothing"
"""What a rank says that neither waits nor is in the user's program."""

_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_KILL = 9


def bare_entry(
    rank: int,
    world_size: int,
    endpoint: Endpoint,
    options: ProcessOptions,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
) -> tuple[Any, Any]:
    """The simplest entry function: ``fn(endpoint, *args)``, no process group, no payload."""
    return fn(endpoint, *args), None


def main(address: str, tied: bool) -> None:
    """Run as a worker until the caller is gone.

    Args:
        address: ``fd:N``, an inherited socket; or ``port:N``, to connect to with the token and number that standard input gives.
        tied: whether the system should end this process when the thread that started it ends (Linux).
    """
    if tied and sys.platform == "linux":
        _die_with_parent()
    kind, number = address.split(":")
    if kind == "fd":
        sock = socket.socket(fileno=int(number))
    else:
        greeting = sys.stdin.buffer.read(mesh.TOKEN_BYTES + 4)
        token, index = greeting[: mesh.TOKEN_BYTES], int.from_bytes(greeting[mesh.TOKEN_BYTES :], "little")
        sock = mesh.connect(int(number), token, index)
    Worker(Channel(sock)).live()


def _die_with_parent() -> None:
    import ctypes

    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_DIES_WITH_PARENT, _KILL, 0, 0, 0)


class Worker:
    """One worker process.

    Args:
        channel: the conversation with the caller.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._links: dict[int, socket.socket] = {}
        self._endpoint: Endpoint | None = None
        self._state = "starts"
        self._main, self._pid = threading.get_ident(), os.getpid()
        import cloudpickle  # noqa: F401  before the first job, so that it counts neither as the job's nor as its time

        self._modules = frozenset(sys.modules)
        self._streams = (RankStream(self._say), RankStream(self._say))

    def live(self) -> None:
        """Serve jobs for ever."""
        threading.Thread(target=self._listen, name="simdist-control", daemon=True).start()
        while True:
            kind, *rest = self._inbox.get()
            if kind == "job":
                self._serve(rest[0])

    def _say(self, line: str) -> None:
        if os.getpid() == self._pid:
            self._channel.send("text", line)
        else:  # a process that the rank has forked must not talk into the conversation
            os.write(1, f"{line}\n".encode())

    # ---- the control thread ------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        try:
            while True:
                message = self._channel.receive()
                if message[0] == "link":
                    self._links[message[1]] = mesh.receive_link(self._channel)
                elif message[0] == "ask":
                    self._channel.send("waits", self._doing(), self._claims())
                else:
                    self._inbox.put(message)
        except (EOFError, OSError):
            os._exit(0)

    def _claims(self) -> list[Claim]:
        return self._endpoint.claims() if self._state == "runs" and self._endpoint is not None else []

    def _doing(self) -> list[str]:
        if self._state != "runs":
            return [self._state]
        waits = self._endpoint.waiting_for() if self._endpoint is not None else []
        place = thread_place(self._main)
        return [f"waits for {line}" for line in waits] or [BETWEEN + (f", it is at {place}" if place else "")]

    # ---- the main thread ---------------------------------------------------------------------------------------------

    def _serve(self, job: Job) -> None:
        self._state = "starts"
        try:
            job.surroundings.enter()
            sys.stdout, sys.stderr = self._streams
            sockets = self._connect(job)
            fn, args, options = job.open()
            entry = _named(job.entry)
            endpoint = Endpoint(job.rank, job.world_size, Sockets(sockets), options.timeout, options.eager_limit)
            self._endpoint = endpoint
        except BaseException as error:
            self._channel.send("failed", report(job.rank, 0.0, error))
            return
        self._channel.send("ready")
        _, epoch = self._inbox.get()
        endpoint.start(epoch)
        self._state = "runs"
        if self._run(job, endpoint, lambda: entry(job.rank, job.world_size, endpoint, options, fn, args)):
            del fn, args, entry
            self._rest(endpoint)

    def _connect(self, job: Job) -> dict[int, socket.socket]:
        message = self._inbox.get()
        if message[0] == "listen":
            listener = mesh.listen()
            self._channel.send("port", listener.getsockname()[1])
            _, ports, token = self._inbox.get()
            return mesh.join(job.rank, listener, ports, token)
        # "linked" comes after all links, read by the control thread in this order.
        links, self._links = self._links, {}
        return links

    def _run(self, job: Job, endpoint: Endpoint, call: Callable[[], tuple[Any, Any]]) -> bool:
        try:
            with warnings.catch_warnings():  # filters that the function sets are gone after it
                outcome = contextvars.Context().run(call)
            late = endpoint.late_error()
            if late is not None:
                raise late
            seconds = endpoint.now()
            data = _packed(job.rank, outcome)
        except BaseException as error:
            waits, claims = getattr(error, "waits", ()), getattr(error, "claims", ())
            self._finish_streams()
            self._channel.send("failed", report(job.rank, endpoint.now(), error, waits, claims))
            return False
        self._state = "has returned"
        endpoint.leave()
        self._finish_streams()
        self._channel.send("done", data, seconds)
        return True

    def _finish_streams(self) -> None:
        for stream in self._streams:
            stream.finish()

    def _rest(self, endpoint: Endpoint) -> None:
        """After the run: wait until all have returned, then become as good as new."""
        while self._inbox.get()[0] != "end":
            continue
        endpoint.close()
        self._endpoint = None
        self._forget()
        self._channel.send("idle", _alone())

    def _forget(self) -> None:
        """Forget what the job brought: the user's modules (they may be edited), random state, references."""
        sys.stdout, sys.stderr = self._streams
        new = {name: module for name, module in sys.modules.items() if name not in self._modules}
        # Whole packages: a module without its parent cannot be imported again.
        users = {name.partition(".")[0] for name, module in new.items() if _of_user(module)}
        for name in [name for name in new if name.partition(".")[0] in users]:
            del sys.modules[name]
        importlib.invalidate_caches()
        random.seed()
        np.random.seed()  # noqa: NPY002  the legacy global state is what a user's function may have touched
        gc.collect()


def _named(path: str) -> Callable[..., tuple[Any, Any]]:
    module, _, name = path.partition(":")
    entry: Callable[..., tuple[Any, Any]] = getattr(importlib.import_module(module), name)
    return entry


def _packed(rank: int, outcome: tuple[Any, Any]) -> bytes:
    result, payload = outcome
    try:
        return pack((result, payload))
    except Exception as error:
        raise DistBackendError(
            f"rank {rank} returned a {type(result).__name__} that cannot be sent back "
            f"({type(error).__name__}: {error}). Return numbers, arrays or plain data."
        ) from error


def _of_user(module: object) -> bool:
    """Whether a module is neither installed nor ours: it may change between two runs."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and file.endswith((".py", ".pyc")) and is_users(file)


def _alone() -> bool:
    """Whether nothing of the job still runs: a worker with a stray thread is not used again."""
    deadline = time.perf_counter() + 0.05
    while True:
        names = {thread.name for thread in threading.enumerate()} - {"MainThread", "simdist-control"}
        if not names or time.perf_counter() > deadline:
            return not names
        time.sleep(0.002)
