import threading
import time

import pytest

from simdist.distributed.store import tcp_client
from simdist.distributed.store.tcp_client import TCPClient
from simdist.distributed.store.tcp_server import TCPServer
from simdist.errors import DistNetworkError


def test_it_waits_for_a_server_that_comes_later():
    port = TCPServer("127.0.0.1", 0)
    port.close()
    made = []
    late = threading.Timer(0.1, lambda: made.append(TCPServer("127.0.0.1", port.port)))
    late.start()
    client = TCPClient("127.0.0.1", port.port, 10.0)
    assert client.do("num_keys", (), None) == 0
    late.join()
    client.close()
    made[0].close()


def test_nobody_listens():
    gone = TCPServer("127.0.0.1", 0)
    gone.close()
    began = time.monotonic()
    with pytest.raises(DistNetworkError, match=r"nobody answers at 127\.0\.0\.1:\d+ within 0\.1 s .*is_master=True"):
        TCPClient("127.0.0.1", gone.port, 0.1)
    assert time.monotonic() - began < 5


def test_the_server_goes_away():
    server = TCPServer("127.0.0.1", 0)
    client = TCPClient("127.0.0.1", server.port, 5.0)
    client.do("set", ("k", b"v"), None)
    server.close()
    with pytest.raises(DistNetworkError, match=r"the server at .* is gone .*must be the last to leave"):
        client.do("get", ("k",), None)


def test_a_question_that_was_given_up_is_not_answered_later(monkeypatch):
    server = TCPServer("127.0.0.1", 0)
    client = TCPClient("127.0.0.1", server.port, 5.0)
    monkeypatch.setattr(tcp_client, "_GRACE", -0.4)
    with pytest.raises(DistNetworkError, match="timed out"):
        client.do("get", ("late",), 0.5)
    with pytest.raises(DistNetworkError, match=r"the server at .* is gone"):
        client.do("num_keys", (), 5.0)
    server.close()
