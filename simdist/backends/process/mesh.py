"""How do the ranks of a run get connected?

Two ways, one table (`WIRES`). With Unix sockets the caller makes a connected pair for each two ranks and hands the ends to
the workers: no listening socket, no file. With TCP each worker listens on the loopback address and connects to the lower
ranks; a connection is accepted only with the run's secret token.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct
from collections.abc import Sequence

from simdist.backends.process.channel import Channel
from simdist.backends.process.options import WIRES
from simdist.errors import UnknownNameError

__all__ = [
    "HAS_UNIX",
    "TOKEN_BYTES",
    "accept",
    "connect",
    "hand_out",
    "join",
    "listen",
    "new_token",
    "receive_link",
    "wire_named",
]

HAS_UNIX = hasattr(socket, "AF_UNIX") and hasattr(socket, "send_fds")
"""Whether this system can hand sockets to another process."""

TOKEN_BYTES = 16
_LOOPBACK = "127.0.0.1"
_RANK = struct.Struct("<I")
_GREETING_SECONDS = 10.0


def wire_named(name: str) -> str:
    """``"unix"`` or ``"tcp"`` for a key of `WIRES`.

    Raises:
        UnknownNameError: no such wire, or not on this system.
    """
    if name not in WIRES or (name == "unix" and not HAS_UNIX):
        raise UnknownNameError("wire", name, list(WIRES) if HAS_UNIX else ["auto", "tcp"])
    if name == "auto":
        return "unix" if HAS_UNIX else "tcp"
    return name


def hand_out(channels: Sequence[Channel]) -> None:
    """In the caller: connect every two workers by a pair of Unix sockets."""
    for low in range(len(channels)):
        for high in range(low + 1, len(channels)):
            pair = socket.socketpair()
            try:
                for mine, other, end in ((low, high, pair[0]), (high, low, pair[1])):
                    channels[mine].send("link", other)
                    socket.send_fds(channels[mine].sock, [b"."], [end.fileno()])
            finally:
                for end in pair:
                    end.close()


def receive_link(channel: Channel) -> socket.socket:
    """In a worker, after ``("link", peer)``: the socket that follows."""
    _, handles, _, _ = socket.recv_fds(channel.sock, 1, 1)
    return socket.socket(fileno=handles[0])


def listen() -> socket.socket:
    """A listening socket on the loopback address, port chosen by the system."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.bind((_LOOPBACK, 0))
    sock.listen(socket.SOMAXCONN)
    return sock


def connect(port: int, token: bytes, number: int = 0) -> socket.socket:
    """Connect to a listener of this machine and show the token and a number."""
    sock = socket.create_connection((_LOOPBACK, port), timeout=_GREETING_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall(token + _RANK.pack(number))
    sock.settimeout(None)
    return sock


def accept(listener: socket.socket, token: bytes) -> tuple[socket.socket, int] | None:
    """Accept one connection; None if it did not show the token."""
    sock, _ = listener.accept()
    sock.settimeout(_GREETING_SECONDS)
    greeting = b""
    try:
        while len(greeting) < TOKEN_BYTES + _RANK.size:
            piece = sock.recv(TOKEN_BYTES + _RANK.size - len(greeting))
            if not piece:
                break
            greeting += piece
    except OSError:
        greeting = b""
    if len(greeting) < TOKEN_BYTES + _RANK.size or not hmac.compare_digest(greeting[:TOKEN_BYTES], token):
        sock.close()
        return None
    sock.settimeout(None)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock, _RANK.unpack(greeting[TOKEN_BYTES:])[0]


def join(rank: int, listener: socket.socket, ports: Sequence[int], token: bytes) -> dict[int, socket.socket]:
    """In a worker: connect to every lower rank, accept every higher one, close the listener."""
    links = {lower: connect(ports[lower], token, rank) for lower in range(rank)}
    while len(links) < len(ports) - 1:
        accepted = accept(listener, token)
        if accepted is not None:
            sock, peer = accepted
            links[peer] = sock
    listener.close()
    return links


def new_token() -> bytes:
    """A fresh secret."""
    return secrets.token_bytes(TOKEN_BYTES)
