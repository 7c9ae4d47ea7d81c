from __future__ import annotations

import socket
import threading

import pytest

from simdist.backends.process import mesh
from simdist.backends.process.channel import Channel
from simdist.errors import UnknownNameError

pytestmark = pytest.mark.timeout(30)


def test_wires_by_name() -> None:
    assert mesh.wire_named("tcp") == "tcp"
    assert mesh.wire_named("auto") == ("unix" if mesh.HAS_UNIX else "tcp")


def test_an_unknown_wire_is_told_with_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match=r"no wire named 'unxi'. Did you mean 'unix'\? Known: auto, tcp, unix"):
        mesh.wire_named("unxi")
    monkeypatch.setattr(mesh, "HAS_UNIX", False)
    assert mesh.wire_named("auto") == "tcp"
    with pytest.raises(UnknownNameError, match=r"Known: auto, tcp\."):
        mesh.wire_named("unix")


@pytest.mark.skipif(not mesh.HAS_UNIX, reason="needs Unix sockets")
def test_hand_out_connects_every_two_workers() -> None:
    pairs = [socket.socketpair() for _ in range(3)]
    callers, workers = [Channel(a) for a, _ in pairs], [Channel(b) for _, b in pairs]
    mesh.hand_out(callers)
    links: list[dict[int, socket.socket]] = [{}, {}, {}]
    for rank, worker in enumerate(workers):
        for _ in range(2):
            kind, peer = worker.receive()
            assert kind == "link"
            links[rank][peer] = mesh.receive_link(worker)
    for low, high in ((0, 1), (0, 2), (1, 2)):
        links[low][high].sendall(bytes([low, high]))
        assert links[high][low].recv(2) == bytes([low, high])
    for table in links:
        for link in table.values():
            link.close()
    for end in callers + workers:
        end.close()


def test_join_connects_every_two_workers() -> None:
    listeners = [mesh.listen() for _ in range(4)]
    ports = [listener.getsockname()[1] for listener in listeners]
    assert {listener.getsockname()[0] for listener in listeners} == {"127.0.0.1"}
    token = mesh.new_token()
    links: list[dict[int, socket.socket]] = [{}, {}, {}, {}]

    def join(rank: int) -> None:
        links[rank] = mesh.join(rank, listeners[rank], ports, token)

    threads = [threading.Thread(target=join, args=(rank,)) for rank in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for low in range(4):
        for high in range(low + 1, 4):
            links[low][high].sendall(bytes([low, high]))
            assert links[high][low].recv(2) == bytes([low, high])
    for table in links:
        for link in table.values():
            link.close()


@pytest.mark.parametrize("greeting", [b"", b"short", b"x" * 20])
def test_a_stranger_without_the_token_is_not_let_in(greeting: bytes) -> None:
    token = mesh.new_token()
    with mesh.listen() as listener:
        stranger = socket.create_connection(listener.getsockname())
        stranger.sendall(greeting)
        stranger.shutdown(socket.SHUT_WR)
        assert mesh.accept(listener, token) is None
        stranger.close()
        friend = mesh.connect(listener.getsockname()[1], token, 7)
        accepted = mesh.accept(listener, token)
        assert accepted is not None
        assert accepted[1] == 7
        accepted[0].close()
        friend.close()


def test_tokens_differ() -> None:
    assert len({mesh.new_token() for _ in range(10)}) == 10
    assert len(mesh.new_token()) == mesh.TOKEN_BYTES == 16
