from __future__ import annotations

import socket
import threading
import time

import pytest

from simdist.backends.process.frame import Frame, Kind
from simdist.backends.process.wires import Sockets

pytestmark = pytest.mark.timeout(30)


def test_a_frame_wakes_the_sleeper_and_is_handed_over() -> None:
    one, other = socket.socketpair()
    sender, receiver, got = Sockets({1: one}), Sockets({0: other}), []
    lane = sender.connect(lambda *_: None, lambda *_: None)[1]
    receiver.connect(lambda lane, frame: got.append((lane.peer, frame.number)), lambda *_: None)
    lane.send([Frame(Kind.BYE, 7).pack()], stable=True)
    receiver.serve(10.0, threading.RLock())
    assert got == [(0, 7)]
    sender.close()
    receiver.close()


def test_a_kick_ends_the_sleep() -> None:
    wires = Sockets({}, spin=0.0)
    threading.Timer(0.05, wires.kick).start()
    began = time.perf_counter()
    wires.serve(10.0, threading.RLock())
    assert time.perf_counter() - began < 5
    wires.close()


def test_a_full_socket_asks_for_room_and_a_lost_one_is_forgotten() -> None:
    one, other = socket.socketpair()
    wires = Sockets({1: one}, spin=0.0)
    lane = wires.connect(lambda *_: None, lambda *_: None)[1]
    assert not wires.watch(lane)
    lane.send([bytes(64 << 20)], stable=True)
    assert wires.watch(lane)  # the sleeper must wait for room now
    assert not wires.watch(lane)
    other.close()
    wires.serve(1.0, threading.RLock())
    assert not wires.watch(lane)
    wires.close()
