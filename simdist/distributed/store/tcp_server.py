"""Who keeps the keys of a TCPStore?

A thread in the process of the master listens, and a thread for each client does what it asks on one board. All end with
their process, or when the master's store is closed.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Any

from simdist.errors import DistNetworkError, DistStoreError, QueueEmptyError

from .board import Board
from .tcp_line import packed, unpacked

__all__ = ["TCPServer"]

_BACKLOG = 1024


class TCPServer:
    """A board that others can reach.

    Args:
        host: the name or address to listen on.
        port: where; 0: any that is free.
        listening: a socket's file descriptor that listens already, instead.

    Attributes:
        port: where it listens.

    Raises:
        DistNetworkError: the address is taken, or is not one of this machine.
    """

    def __init__(self, host: str, port: int, listening: int | None = None) -> None:
        self.board = Board()
        try:
            self._socket = _listener(host, port) if listening is None else socket.socket(fileno=listening)
        except OSError as error:
            raise DistNetworkError(
                f"TCPStore(is_master=True) cannot listen on {host}:{port}: {error}. Another program may use the port (0 takes "
                "a free one), or the address is not one of this machine."
            ) from error
        self.port: int = self._socket.getsockname()[1]
        self._clients: list[socket.socket] = []
        self._closed = False
        threading.Thread(target=self._accept, name=f"store:{self.port}", daemon=True).start()

    def close(self) -> None:
        """Stop: clients get an error at their next question."""
        self._closed = True
        for sock in [self._socket, *self._clients]:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads from it
            sock.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self._clients.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with client, client.makefile("rb") as lines:
                for line in lines:
                    client.sendall(packed(self._answer(line)))
        except OSError:
            return
        finally:
            self._clients.remove(client)

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            operation, arguments, limit = unpacked(line)
            return {"answer": self.board.do(str(operation), tuple(arguments), float(limit))}
        except QueueEmptyError as error:
            return {"empty": str(error)}
        except DistStoreError:
            return {"late": self.board.values.missing(operation, *arguments)}
        except (ValueError, TypeError, AttributeError) as error:
            return {"wrong": str(error)}


def _listener(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock
