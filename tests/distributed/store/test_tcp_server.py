import socket

import pytest

from simdist.distributed.store.tcp_client import TCPClient
from simdist.distributed.store.tcp_line import packed, unpacked
from simdist.distributed.store.tcp_server import TCPServer
from simdist.errors import DistNetworkError


def test_it_answers_lines_and_survives_nonsense():
    server = TCPServer("127.0.0.1", 0)
    with socket.create_connection(("127.0.0.1", server.port), 5) as sock, sock.makefile("rb") as lines:
        answers = []
        for question in (["add", ["n", 2], 1.0], ["add", ["n", "x"], 1.0], ["nonsense", [], 1.0], ["get", ["k"], 0.01]):
            sock.sendall(packed(question))
            answers.append(unpacked(lines.readline()))
        sock.sendall(b"GET / HTTP/1.1\n")
        assert list(unpacked(lines.readline())) == ["wrong"]
    assert [list(answer) for answer in answers] == [["answer"], ["wrong"], ["wrong"], ["late"]]
    client = TCPClient("127.0.0.1", server.port, 5.0)
    assert client.do("add", ("n", 1), None) == 3
    client.close()
    server.close()


def test_an_address_that_is_taken():
    server = TCPServer("127.0.0.1", 0)
    with pytest.raises(DistNetworkError, match=rf"cannot listen on 127\.0\.0\.1:{server.port}: .*Another program"):
        TCPServer("127.0.0.1", server.port)
    server.close()
    TCPServer("127.0.0.1", server.port).close()
