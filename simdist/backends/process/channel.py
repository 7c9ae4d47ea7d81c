"""How do the caller and a worker talk?

Over one stream socket: a length, then a pickled tuple whose first item says what it is. Both ends are the same user's own
processes, connected before anything is read (a pair of sockets, or a secret token), so unpickling is safe.

| from the caller | means |
|---|---|
| ``("job", Job)`` | prepare this; answer ``("ready",)`` |
| ``("link", peer)`` | a socket to that rank follows |
| ``("listen",)`` | open a port, answer ``("port", number)`` |
| ``("ports", numbers, token)`` | connect to the others |
| ``("go", epoch)`` | run |
| ``("ask",)`` | answer ``("waits", lines)`` |
| ``("end",)`` | all have returned; clean up, answer ``("idle", reusable)`` |

The worker further sends ``("text", line)``, ``("done", bytes, seconds)``, ``("failed", Report)``.
"""

from __future__ import annotations

import pickle
import socket
import struct
import threading
from typing import Any

__all__ = ["Channel", "Message"]

Message = tuple[Any, ...]
_LENGTH = struct.Struct("<Q")
_READ_BYTES = 1 << 20


class Channel:
    """One end of the conversation."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._lock = threading.Lock()
        self._head = bytearray()
        self._body: bytearray | None = None
        self._filled = 0

    def send(self, *message: Any) -> None:
        """Send one message, waiting until it is on its way.

        Raises:
            OSError: the other side is gone.
        """
        data = pickle.dumps(message, protocol=5)
        with self._lock:
            self.sock.setblocking(True)
            self.sock.sendall(_LENGTH.pack(len(data)))
            self.sock.sendall(data)

    def receive(self) -> Message:
        """Wait for one message, reading not one byte more.

        Raises:
            EOFError: the other side is gone.
        """
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        message: Message = pickle.loads(self._exactly(length))
        return message

    def _exactly(self, count: int) -> bytearray:
        data = bytearray(count)
        view = memoryview(data)
        while view:
            try:
                got = self.sock.recv_into(view)
            except OSError as error:
                raise EOFError from error
            if got == 0:
                raise EOFError
            view = view[got:]
        return data

    def feed(self) -> list[Message]:
        """Read what a readable socket has, without waiting for more; returns the messages that are complete now.

        Raises:
            EOFError: the other side is gone (and no complete message came before).
        """
        want = _LENGTH.size - len(self._head) if self._body is None else len(self._body) - self._filled
        try:
            if self._body is None:
                piece = self.sock.recv(want)
                got = len(piece)
                self._head += piece
            else:
                got = self.sock.recv_into(memoryview(self._body)[self._filled :], min(want, _READ_BYTES))
                self._filled += got
        except OSError as error:
            raise EOFError from error
        if got == 0:
            raise EOFError
        if self._body is None and len(self._head) == _LENGTH.size:
            self._body, self._filled = bytearray(_LENGTH.unpack(self._head)[0]), 0
            self._head.clear()
        if self._body is not None and self._filled == len(self._body):
            message = pickle.loads(self._body)
            self._body = None
            return [message]
        return []

    def close(self) -> None:
        """Close the socket."""
        self.sock.close()
