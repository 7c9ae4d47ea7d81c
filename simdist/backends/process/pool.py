"""Where do workers come from, and where do they go after a run?

A new worker costs a Python start and the import of numpy (measured: 90 ms of CPU); an idle one costs nothing: it sleeps in a
read. So workers of a run that ended well are kept for the next one and closed when the interpreter ends; those of a run that
failed are killed. A fork of this process must not touch them: they are its parent's.
"""

from __future__ import annotations

import atexit
import os
import select
import threading
import time

from simdist.backends.process.child import Child, spawn

__all__ = ["KEEP", "Pool", "close_pool", "pool"]

KEEP = 16
"""How many idle workers are kept at most (of each wire)."""

_CLOSE_SECONDS = 1.0
_REST_SECONDS = 2.0


class Pool:
    """Idle workers of one wire, newest last.

    Args:
        wire: ``"unix"`` or ``"tcp"``.
    """

    def __init__(self, wire: str) -> None:
        self.wire = wire
        self._idle: list[Child] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def take(self, count: int, patience: float) -> list[Child]:
        """``count`` workers, warm ones first, the rest newly started.

        Args:
            count: how many.
            patience: seconds in which new ones must connect.
        """
        with self._lock:
            if self._owner != os.getpid():
                self._idle, self._owner = [], os.getpid()
            split = max(0, len(self._idle) - count)
            self._idle, candidates = self._idle[:split], self._idle[split:]
        taken = [child for child in candidates if _usable(child)]
        try:
            return taken + spawn(count - len(taken), self.wire, patience)
        except BaseException:
            for child in taken:
                child.kill()
            raise

    def give(self, children: list[Child]) -> None:
        """Take back workers whose job is over; more than `KEEP` are closed."""
        for child in children:
            child.resting = True
        with self._lock:
            self._idle += children
            split = max(0, len(self._idle) - KEEP)
            surplus, self._idle = self._idle[:split], self._idle[split:]
        _retire(surplus)

    def close(self) -> None:
        """End every idle worker."""
        with self._lock:
            idle, self._idle = self._idle, []
        if self._owner == os.getpid():
            _retire(idle)


def _usable(child: Child) -> bool:
    """Whether a worker has cleaned up after its job and lives; one that has not is killed."""
    if child.process.poll() is None and (not child.resting or _rested(child)):
        child.resting = False
        child.raw_lines()
        child.last_words.clear()
        return True
    child.kill()
    return False


def _rested(child: Child) -> bool:
    deadline = time.monotonic() + _REST_SECONDS
    try:
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([child.channel.sock], [], [], left)
            for message in child.channel.feed() if ready else []:
                if message[0] == "idle":
                    return bool(message[1])
    except (EOFError, OSError):
        return False
    return False


def _retire(children: list[Child]) -> None:
    """Close the conversations (a worker then ends by itself) and wait; kill what stays."""
    for child in children:
        child.channel.close()
    deadline = time.monotonic() + _CLOSE_SECONDS
    for child in children:
        if child.exit_code(max(0.0, deadline - time.monotonic())) is None:
            child.kill()
        else:
            child.bury()


_pools: dict[str, Pool] = {}


def pool(wire: str) -> Pool:
    """The pool of this interpreter for a wire."""
    if not _pools:
        atexit.register(close_pool)
    return _pools.setdefault(wire, Pool(wire))


def close_pool() -> None:
    """End every idle worker of this interpreter; the next run starts new ones."""
    for each in _pools.values():
        each.close()
