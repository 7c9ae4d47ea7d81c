from __future__ import annotations

import socket
from collections.abc import Iterator

import numpy as np
import pytest

from simdist.backends.process import link as link_module
from simdist.backends.process.frame import Frame, Kind, payload_length
from simdist.backends.process.link import Link
from simdist.backends.process.sink import Parcel, Sink


class Side:
    """A link whose frames and payloads are kept."""

    def __init__(self, sock: socket.socket) -> None:
        self.frames: list[Frame] = []
        self.payloads: list[bytes] = []
        self.link = Link(0, sock, self._frame, self._payload)

    def _frame(self, link: Link, frame: Frame) -> Sink | None:
        self.frames.append(frame)
        return Parcel(payload_length(frame)) if payload_length(frame) else None

    def _payload(self, link: Link, frame: Frame, sink: Sink) -> None:
        assert isinstance(sink, Parcel)
        self.payloads.append(sink.data.tobytes())


@pytest.fixture
def sides() -> Iterator[tuple[Side, Side]]:
    pair = socket.socketpair()
    both = Side(pair[0]), Side(pair[1])
    yield both
    for side in both:
        side.link.close()


def _settle(*sides: Side) -> None:
    for _ in range(10_000):
        for side in sides:
            side.link.flush()
            side.link.pump()
        if not any(side.link.backlog for side in sides):
            break
    for side in sides:
        side.link.pump()


def _message(number: int, data: bytes) -> list[bytes]:
    head = Frame(Kind.EAGER, number, nbytes=len(data)).pack()
    return [head, data] if data else [head]


def test_small_messages_arrive_in_order(sides: tuple[Side, Side]) -> None:
    a, b = sides
    for number in range(50):
        a.link.send(_message(number, bytes([number]) * number), stable=False)
    _settle(a, b)
    assert [frame.number for frame in b.frames] == list(range(50))
    assert b.payloads == [bytes([number]) * number for number in range(1, 50)]


def test_more_than_the_sockets_hold_goes_both_ways_at_once(sides: tuple[Side, Side]) -> None:
    a, b = sides
    data = np.random.default_rng(0).integers(0, 256, 20_000_000, dtype=np.uint8).tobytes()
    for side in sides:
        side.link.send(_message(1, data), stable=True)
        assert side.link.backlog
    _settle(a, b)
    assert a.payloads == b.payloads == [data]


def test_an_unstable_buffer_is_taken_at_the_call(sides: tuple[Side, Side]) -> None:
    a, b = sides
    data = bytearray(b"1" * 9_000_000)
    a.link.send([Frame(Kind.EAGER, 1, nbytes=len(data)).pack(), data], stable=False)
    data[:] = b"2" * len(data)
    _settle(a, b)
    assert b.payloads == [b"1" * len(data)]


def test_sent_is_called_once_when_the_last_byte_is_gone(sides: tuple[Side, Side]) -> None:
    a, b = sides
    calls: list[str] = []
    a.link.send(_message(1, b"small"), stable=True, sent=lambda: calls.append("small"))
    assert calls == ["small"]
    a.link.send(_message(2, bytes(9_000_000)), stable=True, sent=lambda: calls.append("large"))
    a.link.send(_message(3, b"x"), stable=True, sent=lambda: calls.append("after"))
    assert calls == ["small"]
    _settle(a, b)
    assert calls == ["small", "large", "after"]


def test_the_end_of_the_peer_is_seen(sides: tuple[Side, Side]) -> None:
    a, b = sides
    b.link.close()
    a.link.pump()
    assert a.link.gone
    a.link.send(_message(1, b"lost"), stable=True)
    assert not a.link.backlog


def test_writing_to_a_lost_peer_is_seen_too(sides: tuple[Side, Side]) -> None:
    a, b = sides
    b.link.close()
    a.link.send(_message(1, b"lost"), stable=True)
    assert a.link.gone


def test_systems_without_sendmsg(sides: tuple[Side, Side], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "_HAS_SENDMSG", False)
    a, b = sides
    a.link.send(_message(1, b"abc"), stable=True)
    a.link.send(_message(2, b""), stable=True)
    _settle(a, b)
    assert b.payloads == [b"abc"]
    assert len(b.frames) == 2
