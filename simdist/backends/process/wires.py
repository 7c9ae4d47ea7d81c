"""How does the one who moves the messages sleep until there is something to move?

``Wires`` is what ``progress`` needs of whatever connects a rank with the others. ``Sockets`` are those of local processes: a
selector over the links' sockets, and a pair of sockets to wake the sleeper. MPI brings its own.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from collections.abc import Mapping
from typing import Protocol

from simdist.backends.process.link import Lane, Link, OnFrame, OnPayload

__all__ = ["SPIN_SECONDS", "Sockets", "Wires"]

SPIN_SECONDS = 100e-6
"""How long a waiting rank looks before it sleeps, while there are as many cores as ranks (about two wake-ups)."""


class Wires(Protocol):
    """All connections of one rank."""

    def connect(self, on_frame: OnFrame, on_payload: OnPayload) -> Mapping[int, Lane]:
        """Make the lane to each peer."""

    def watch(self, lane: Lane) -> bool:
        """Look again at what the lane waits for (under the mutex, after a send); True if a sleeper must be woken for it."""

    def serve(self, timeout: float | None, mutex: threading.RLock) -> None:
        """Sleep until something can be moved, at most ``timeout`` seconds, and move it under the mutex."""

    def kick(self) -> None:
        """Wake the sleeper."""

    def close(self) -> None:
        """Let go of everything; nobody sleeps any more."""


class Sockets:
    """A connected stream socket to every other rank.

    Args:
        sockets: by peer.
        spin: seconds to look again and again before sleeping; None: ``SPIN_SECONDS`` where every rank has a core of its own.
    """

    def __init__(self, sockets: Mapping[int, socket.socket], spin: float | None = None) -> None:
        self._sockets = sockets
        self._spin = spin if spin is not None else SPIN_SECONDS if len(sockets) < _cores() else 0.0
        # Only it looks before it sleeps: a second thread would disturb its computing.
        self._main = threading.get_ident()
        self._selector = selectors.DefaultSelector()
        self._ear, self._mouth = socket.socketpair()
        for end in (self._ear, self._mouth):
            end.setblocking(False)
        self._selector.register(self._ear, selectors.EVENT_READ, None)
        self._links: dict[int, Link] = {}
        self._masks: dict[int, int] = {}

    def connect(self, on_frame: OnFrame, on_payload: OnPayload) -> Mapping[int, Lane]:
        """A link over each socket."""
        for peer in sorted(self._sockets):
            link = self._links[peer] = Link(peer, self._sockets[peer], on_frame, on_payload)
            self._masks[peer] = selectors.EVENT_READ
            self._selector.register(link.sock, selectors.EVENT_READ, link)
        return self._links

    def watch(self, lane: Lane) -> bool:
        """Wait for room in the socket if bytes are left; forget a socket that is gone."""
        link, old = self._links[lane.peer], self._masks.get(lane.peer)
        if old is None:
            return False
        if link.gone:
            del self._masks[link.peer]
            self._selector.unregister(link.sock)
            return False
        new = selectors.EVENT_READ | (selectors.EVENT_WRITE if link.backlog else 0)
        if new == old:
            return False
        self._masks[link.peer] = new
        self._selector.modify(link.sock, new, link)
        return True

    def serve(self, timeout: float | None, mutex: threading.RLock) -> None:
        """Sleep in the selector, then read and write what is ready."""
        events = self._await(timeout)
        with mutex:
            for key, mask in events:
                link: Link | None = key.data
                if link is None:
                    self._hear()
                    continue
                if mask & selectors.EVENT_WRITE:
                    link.flush()
                if mask & selectors.EVENT_READ:
                    link.pump()
                self.watch(link)

    def _await(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        """Sleep until something is ready, looking for a moment first: to be woken costs more than a short message."""
        if self._spin and threading.get_ident() == self._main and (timeout is None or timeout > self._spin):
            end = time.perf_counter() + self._spin
            while time.perf_counter() < end:
                events = self._selector.select(0)
                if events:
                    return events
        return self._selector.select(timeout)

    def kick(self) -> None:
        """Write to the sleeper's ear."""
        try:
            self._mouth.send(b"!")
        except (BlockingIOError, OSError):  # full: it will wake anyway
            return

    def _hear(self) -> None:
        try:
            self._ear.recv(4096)
        except BlockingIOError:
            return

    def close(self) -> None:
        """Close the selector and every socket."""
        self._selector.close()
        self._ear.close()
        self._mouth.close()
        for link in self._links.values():
            link.close()


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else (os.cpu_count() or 1)
