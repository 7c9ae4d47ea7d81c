from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from simdist.backends.process.channel import Channel, Message

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    pair = socket.socketpair()
    both = Channel(pair[0]), Channel(pair[1])
    yield both
    for end in both:
        end.close()


def _feed_until(channel: Channel, count: int) -> list[Message]:
    messages: list[Message] = []
    while len(messages) < count:
        select.select([channel.sock], [], [], 10)
        messages += channel.feed()
    return messages


def test_a_conversation(ends: tuple[Channel, Channel]) -> None:
    a, b = ends
    a.send("job", {"rank": 1})
    a.send("go", 1.5)
    assert b.receive() == ("job", {"rank": 1})
    assert b.receive() == ("go", 1.5)
    b.send("ready")
    assert _feed_until(a, 1) == [("ready",)]


def test_feed_never_waits_for_the_rest(ends: tuple[Channel, Channel]) -> None:
    a, b = ends
    b.sock.sendall(b"\x05")
    assert a.feed() == []
    b.sock.sendall(bytes(7))
    assert a.feed() == []


def test_more_than_a_socket_holds(ends: tuple[Channel, Channel]) -> None:
    a, b = ends
    data = np.arange(3_000_000)
    thread = threading.Thread(target=lambda: (b.send("done", data), b.send("text", "after")))
    thread.start()
    first, second = _feed_until(a, 2)
    thread.join()
    assert (first[1] == data).all()
    assert second == ("text", "after")


def test_threads_do_not_mix_their_messages(ends: tuple[Channel, Channel]) -> None:
    a, b = ends
    threads = [threading.Thread(target=lambda k=k: [b.send(k, "x" * 5000) for _ in range(20)]) for k in range(4)]
    for thread in threads:
        thread.start()
    messages = _feed_until(a, 80)
    for thread in threads:
        thread.join()
    assert sorted(message[0] for message in messages) == sorted(list(range(4)) * 20)
    assert {message[1] for message in messages} == {"x" * 5000}


@pytest.mark.parametrize("read", [Channel.receive, Channel.feed])
def test_the_end_of_the_other_side(ends: tuple[Channel, Channel], read: Any) -> None:
    a, b = ends
    b.close()
    with pytest.raises(EOFError):
        read(a)


def test_an_end_in_the_middle_of_a_message(ends: tuple[Channel, Channel]) -> None:
    a, b = ends
    b.sock.sendall((100).to_bytes(8, "little") + b"abc")
    b.close()
    with pytest.raises(EOFError):
        a.receive()
