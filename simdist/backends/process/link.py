"""How do frames get through one socket without ever blocking?

A link owns the socket to one peer. What the socket does not take at once waits in a queue; what arrives is cut into frames
and each payload flows into the sink that the owner names. Nothing here blocks, so two ranks that send each other more than
the sockets hold both keep reading: large symmetric exchanges cannot deadlock.

Not thread safe: the endpoint calls everything under its lock.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from simdist.backends.process.frame import HEADER, NOTE_LIMIT, Frame, parse, payload_length
from simdist.backends.process.sink import Sink

__all__ = ["STAGE_BYTES", "Lane", "Link", "OnFrame", "OnPayload", "Sent"]

STAGE_BYTES = 64 * 1024 + HEADER.size + NOTE_LIMIT
"""One read takes a whole small message with its header."""

_ROUNDS = 64  # reads or writes for one readiness event, so that one busy peer cannot starve the others
_SOCKET_BYTES = 4 * 1024 * 1024
_HAS_SENDMSG = hasattr(socket.socket, "sendmsg")

OnFrame = Callable[["Lane", Frame], "Sink | None"]
OnPayload = Callable[["Lane", Frame, Sink], None]
Sent = Callable[[], None]


class Lane(Protocol):
    """The way to one peer, as an endpoint sees it; a `Link` is one over a socket."""

    @property
    def peer(self) -> int:
        """The peer's rank."""

    def send(self, parts: Sequence[Any], *, stable: bool, sent: Sent | None = None) -> None:
        """See `Link.send`."""


class Link:
    """The connection to one peer.

    Args:
        peer: the peer's rank.
        sock: a connected stream socket.
        on_frame: called with each frame; returns where its payload goes (None if it has none).
        on_payload: called when a payload is complete.
    """

    def __init__(self, peer: int, sock: socket.socket, on_frame: OnFrame, on_payload: OnPayload) -> None:
        self.peer, self.sock = peer, sock
        self.gone = False
        self._on_frame, self._on_payload = on_frame, on_payload
        self._queue: deque[tuple[memoryview, Sent | None]] = deque()
        self._stage = memoryview(bytearray(STAGE_BYTES))
        self._start = self._end = 0
        self._sink: Sink | None = None
        self._frame: Frame | None = None
        _prepare(sock)

    @property
    def backlog(self) -> bool:
        """Whether bytes wait for the socket to take them."""
        return bool(self._queue)

    def send(self, parts: Sequence[Any], *, stable: bool, sent: Sent | None = None) -> None:
        """Send ``parts`` one after the other, now or as soon as the socket takes them.

        Args:
            parts: non-empty buffers of bytes.
            stable: whether the buffers keep their contents until ``sent`` is called; if not, what is left is copied.
            sent: called when the last byte has been given to the system.
        """
        if self.gone:
            return
        written = 0 if self._queue else self._write(parts)
        last = len(parts) - 1
        for index, part in enumerate(parts):
            view = memoryview(part)
            if written >= len(view):
                written -= len(view)
                if index == last and sent is not None:
                    sent()
                continue
            rest = view[written:]
            written = 0
            self._queue.append((rest if stable else memoryview(bytes(rest)), sent if index == last else None))

    def _write(self, parts: Sequence[Any]) -> int:
        """Give the socket what it takes now; returns how many bytes."""
        try:
            if _HAS_SENDMSG:
                return self.sock.sendmsg(parts)
            return self.sock.send(parts[0] if len(parts) == 1 else b"".join(parts))
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self._lose()
            return 0

    def flush(self) -> None:
        """Give the socket what it takes of the queue."""
        for _ in range(_ROUNDS):
            if not self._queue:
                return
            view, sent = self._queue[0]
            count = self._write([view])
            if self.gone or count == 0:
                return
            if count < len(view):
                self._queue[0] = (view[count:], sent)
                continue
            self._queue.popleft()
            if sent is not None:
                sent()

    def pump(self) -> None:
        """Take what has arrived. After the end of the stream ``gone`` is True."""
        for _ in range(_ROUNDS):
            direct = self._sink is not None and self._start == self._end
            if direct:
                assert self._sink is not None
                place = self._sink.want()
            else:
                self._compact()
                place = self._stage[self._end :]
            count = self._read(place)
            if count == 0:
                return
            if direct:
                self._advance(count)
            else:
                self._end += count
                self._cut()
                if count < len(place):
                    return

    def _read(self, place: memoryview) -> int:
        try:
            count = self.sock.recv_into(place)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            count = 0
        if count == 0:
            self._lose()
        return count

    def _compact(self) -> None:
        if self._start == self._end:
            self._start = self._end = 0
        elif self._start:
            rest = bytes(self._stage[self._start : self._end])
            self._stage[: len(rest)] = rest
            self._start, self._end = 0, len(rest)

    def _cut(self) -> None:
        """Cut the staged bytes into frames and payloads."""
        while self._start < self._end:
            if self._sink is not None:
                place = self._sink.want()
                count = min(len(place), self._end - self._start)
                place[:count] = self._stage[self._start : self._start + count]
                self._start += count
                self._advance(count)
                continue
            parsed = parse(self._stage, self._start, self._end)
            if parsed is None:
                return
            frame, self._start = parsed
            sink = self._on_frame(self, frame)
            if payload_length(frame):
                assert sink is not None, f"no place for the payload of {frame}"
                self._frame, self._sink = frame, sink

    def _advance(self, count: int) -> None:
        assert self._sink is not None and self._frame is not None
        if self._sink.took(count):
            sink, frame = self._sink, self._frame
            self._sink = self._frame = None
            self._on_payload(self, frame, sink)

    def _lose(self) -> None:
        self.gone = True
        self._queue.clear()

    def close(self) -> None:
        """Close the socket."""
        self._lose()
        self.sock.close()


def _prepare(sock: socket.socket) -> None:
    sock.setblocking(False)
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        try:
            sock.setsockopt(socket.SOL_SOCKET, option, _SOCKET_BYTES)
        except OSError:  # a system that allows less keeps its default
            continue
    if sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
