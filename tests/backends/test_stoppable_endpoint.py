"""A rank is stopped: what it was doing is kept, every wait ends, and a rank that computes is interrupted."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from simdist.backends.process.wires import Sockets
from simdist.backends.stoppable_endpoint import StoppableEndpoint, StoppedError


@pytest.fixture
def endpoint():
    import socket

    mine, theirs = socket.socketpair()
    made = StoppableEndpoint(0, 2, Sockets({1: mine}), timeout=20.0)
    yield made
    made.close()
    theirs.close()


def test_what_the_rank_waits_for_is_kept_and_the_wait_ends(endpoint):
    ended = []

    def wait():
        try:
            endpoint.irecv(np.zeros(2), 1, (0, 0, 0), note=b"a note", label="the wait").wait()
        except StoppedError as error:
            ended.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    while not endpoint.waiting_for():
        continue
    assert not endpoint.stopped
    endpoint.stop()
    endpoint._progress._wires.kick()
    thread.join(10)
    assert ended == ["another rank has failed"]
    assert endpoint.stopped
    assert endpoint.doing[0].startswith("waits for the wait: receive of (2,) float64 from rank 1")
    assert [claim.note for claim in endpoint.posted] == [b"a note"]


def test_a_rank_whose_function_has_ended_tells_nothing(endpoint):
    endpoint.stop(ended=True)
    assert endpoint.stopped
    assert (endpoint.doing, endpoint.posted) == ([], [])


def test_a_rank_that_computes_is_interrupted(endpoint):
    began, ended = threading.Event(), []

    def compute():
        endpoint.rank_thread = threading.get_ident()
        try:
            began.set()
            while True:
                pass
        except StoppedError:
            ended.append(True)

    thread = threading.Thread(target=compute)
    thread.start()
    began.wait(10)
    endpoint.stop()
    assert endpoint.doing[0].startswith("waits for nothing, it is at test_stoppable_endpoint.py:")
    endpoint.interrupt()
    thread.join(10)
    assert ended == [True]


def test_no_handler_of_the_users_takes_it_for_its_own():
    assert not issubclass(StoppedError, Exception)
