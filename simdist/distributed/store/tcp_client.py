"""How does a process reach the keys that another one keeps?

Over one connection; who asks waits for the answer. The server may not be there yet: connecting is tried again until the
limit. Waiting for a key is done by the server.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

from simdist.errors import DistNetworkError, QueueEmptyError

from .board import DEFAULT_SECONDS, late, limit_now, said
from .tcp_line import packed, unpacked

__all__ = ["TCPClient"]

_PAUSE = 0.02  # between two attempts to connect
_GRACE = 10.0  # how much longer than the limit an answer may take before the server counts as lost


class TCPClient:
    """A connection to a ``TCPServer``.

    Args:
        host: where it is.
        port: on which port.
        limit: seconds that connecting may take.

    Raises:
        DistNetworkError: nobody listens there within the limit.
    """

    def __init__(self, host: str, port: int, limit: float | None) -> None:
        self._address = f"{host}:{port}"
        limit = limit_now(limit)
        end = time.monotonic() + (DEFAULT_SECONDS if limit is None else limit)
        while True:
            try:
                rest = max(_PAUSE, end - time.monotonic())
                self._socket = socket.create_connection((host, port), rest)
                break
            except OSError as error:
                if time.monotonic() >= end or isinstance(error, socket.gaierror):
                    raise DistNetworkError(
                        f"TCPStore: nobody answers at {self._address} within {limit:g} s ({error}). One rank must make it "
                        "with is_master=True, with the same host and port, and on a machine that can be reached."
                    ) from error
                time.sleep(_PAUSE)
        self._lines = self._socket.makefile("rb")
        self._one_at_a_time = threading.Lock()

    def do(self, operation: str, arguments: tuple[Any, ...], limit: float | None) -> Any:
        """Ask the server for one operation of ``Values``.

        Raises:
            DistStoreError, ValueError: as the operation.
            DistNetworkError: the server is gone.
        """
        limit = limit_now(limit)
        assert limit is not None
        answer = self._ask([operation, arguments, limit], limit + _GRACE)
        if "late" in answer:
            raise late(said(operation, arguments), answer["late"], limit)
        if "empty" in answer:
            raise QueueEmptyError(answer["empty"])
        if "wrong" in answer:
            raise ValueError(answer["wrong"])
        return answer["answer"]

    def _ask(self, question: list[Any], patience: float) -> dict[str, Any]:
        try:
            with self._one_at_a_time:
                line = self._exchange(packed(question), patience)
        except (OSError, ValueError) as error:  # ValueError: an earlier failure has closed the file
            raise DistNetworkError(
                f"TCPStore: the server at {self._address} is gone ({error}). It ends with the process of the rank that made "
                "it with is_master=True: that rank must be the last to leave."
            ) from error
        answer: dict[str, Any] = unpacked(line)
        return answer

    def _exchange(self, question: bytes, patience: float) -> bytes:
        """Send a line and read one. If that fails half-way the connection is over: the next line would answer this question."""
        try:
            self._socket.settimeout(patience)
            self._socket.sendall(question)
            line = self._lines.readline()
            if not line:
                raise ConnectionError("the connection was closed")
        except BaseException:
            self.close()
            raise
        return line

    def close(self) -> None:
        """End the connection."""
        self._lines.close()
        self._socket.close()
