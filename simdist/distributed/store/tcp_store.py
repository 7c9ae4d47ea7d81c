"""How do processes that share no disk share notes?

One of them, the master, keeps the keys and listens on a port; the others connect to it. In simulation nothing is opened: host
and port name the store, and waiting takes simulated time.
"""

from __future__ import annotations

import weakref
from datetime import timedelta
from typing import Any

from simdist.backends import context
from simdist.backends.world import Commons
from simdist.errors import DistNetworkError, DistStoreError, DistTimeoutError

from .board import Board, limit_now
from .store import DEFAULT_TIMEOUT, Store
from .tcp_client import TCPClient
from .tcp_server import TCPServer
from .values import WORKERS

__all__ = ["TCPStore"]

_FIRST_PORT = 29500  # torch's usual one: where simulated ports begin


class TCPStore(Store):
    """A store that one process keeps for all.

    Args:
        host_name: name or address of the master's machine; the master listens on it.
        port: where; the master may give 0 for any that is free, and tell the others ``port``.
        world_size: how many stores are made, the master's included; None: any number.
        is_master: whether this process keeps the keys.
        timeout: how long ``get`` and the like, connecting, and waiting for the others may take: seconds or a ``timedelta``.
        wait_for_workers: the master waits until ``world_size`` stores are made.
        multi_tenant: a second master of one process and port uses the first one's server.
        master_listen_fd: file descriptor of a socket that listens already, for the master.
        use_libuv: accepted for torch's sake.

    Attributes:
        host: ``host_name``.
        port: where the master listens.

    Raises:
        DistNetworkError: the master cannot listen, or cannot be reached within the timeout.
        DistStoreError: not all workers came within the timeout.
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: float | timedelta = DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__(timeout)
        if not 0 <= port < 65536:
            raise ValueError(f"TCPStore: port {port} is none: a port is a number from 0 (any free one) to 65535.")
        if not (is_master or port):
            raise ValueError("TCPStore: port 0 (any free one) is for the master; the others must know its port.")
        self.host, self._server = host_name, None
        self._board: Board | TCPClient
        world = context.current()
        if world is not None and world.commons is not None:
            self.port, self._board = _simulated(world.commons, host_name, port, is_master, multi_tenant, self._limit)
        else:
            if is_master:
                self._server = _server(host_name, port, multi_tenant, master_listen_fd)
                port = self._server.port
                if not multi_tenant:
                    weakref.finalize(self, self._server.close)
            self.port = port
            self._board = TCPClient(host_name, port, self._limit)
            weakref.finalize(self, self._board.close)
        joined = self.add(WORKERS, 1)
        if is_master and wait_for_workers and world_size is not None:
            self._await_workers(world_size, joined)

    def _await_workers(self, world_size: int, joined: int) -> None:
        try:
            self._do("come_up_to", (WORKERS, world_size), self._limit)
        except DistStoreError:
            joined = self.add(WORKERS, 0)
            raise DistStoreError(
                f"TCPStore at {self.host}:{self.port}: {joined} of {world_size} workers came within "
                f"{limit_now(self._limit):g} s. Each rank must make the store once, with the same host and port; or give more "
                "time (timeout=), or wait_for_workers=False."
            ) from None

    def _do(self, operation: str, arguments: tuple[Any, ...], limit: float | None) -> Any:
        return self._board.do(operation, arguments, limit)


_servers: dict[tuple[str, int], TCPServer] = {}
"""Those of this process that others may use, too."""


def _server(host: str, port: int, shared: bool, listening: int | None) -> TCPServer:
    if shared and (host, port) in _servers:
        return _servers[host, port]
    server = TCPServer(host, port, listening)
    if shared:
        _servers[host, server.port] = server
    return server


def _simulated(
    commons: Commons, host: str, port: int, is_master: bool, shared: bool, limit: float | None
) -> tuple[int, Board]:
    """The port and the board of the store that is called ``host:port`` in this run."""
    things = commons.things

    def key() -> tuple[str, str, int]:
        return "tcp", host, port

    def listen() -> None:
        nonlocal port
        if not port:
            port = next(p for p in range(_FIRST_PORT, 65536) if ("tcp", host, p) not in things)
        if key() in things and not shared:
            raise DistNetworkError(
                f"TCPStore(is_master=True) cannot listen on {host}:{port}: another rank does already. One rank is the master; "
                "the others give is_master=False."
            )
        things.setdefault(key(), Board())

    try:
        if is_master:
            commons.touch(f"TCPStore {host}:{port}", listen)
        else:
            commons.touch(f"TCPStore {host}:{port}", key, lambda: key() in things, limit_now(limit))
    except DistTimeoutError as error:
        raise DistNetworkError(
            f"{error} One rank must make it with is_master=True, with the same host and port."
        ) from None
    board: Board = things[key()]
    return port, board
