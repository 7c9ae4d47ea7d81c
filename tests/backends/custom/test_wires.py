"""Frames and payloads over a learner's transport; what a transport does wrong is seen where it can be seen."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.backends.custom.byte_transport import CONTROL
from simdist.backends.custom.wires import ByteWires
from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.mailbox import ANYONE
from simdist.errors import DistBackendError


@pytest.fixture
def pair(queues):
    wires = [ByteWires("mine", end) for end in queues(2)]
    endpoints = [Endpoint(rank, 2, wire, timeout=20.0) for rank, wire in enumerate(wires)]
    yield endpoints
    for wire in wires:
        wire.goodbye()
    for endpoint in endpoints:
        endpoint.close()
    assert [wire.join(5.0) for wire in wires] == [[], []]


@pytest.mark.parametrize("length", [0, 1, 1000, 300_000])
def test_any_length_arrives_written_or_folded(pair, length):
    a, b = pair
    sent, tag = np.random.default_rng(length).standard_normal(length), (3, 0, 7)
    plain, folded = np.zeros(length), np.ones(length)
    works = [a.isend(sent, 1, tag), a.isend(sent, 1, tag)]
    works += [b.irecv(plain, 0, tag), b.irecv(folded, ANYONE, tag, np.subtract)]
    for work in works:
        work.wait()
    assert np.array_equal(plain, sent)
    assert np.array_equal(folded, sent - 1)  # the arriving operand is the lower rank's


def test_payloads_have_the_tags_of_their_messages(queues):
    seen = []

    class Watched:
        def __init__(self, inner):
            self.inner, self.rank, self.size = inner, inner.rank, inner.size

        def isend(self, buf, dst, tag):
            seen.append((self.rank, tag, len(buf)))
            return self.inner.isend(buf, dst, tag)

        def irecv(self, buf, src, tag):
            return self.inner.irecv(buf, src, tag)

    sd.register_backend("watched", lambda size: [Watched(end) for end in queues(size)])
    try:
        sd.run(_two_messages, world_size=2, backend="watched")
    finally:
        sd.backends.unregister_backend("watched")
    assert sorted(entry for entry in seen if entry[1] != CONTROL) == [(0, (0, 0, 5), 80), (0, (0, 0, 6), 800_000)]


def _two_messages(rank, world_size):
    for tag, length in ((5, 10), (6, 100_000)):
        if rank == 0:
            dist.send(np.ones(length), dst=1, tag=tag)
        else:
            dist.recv(np.ones(length), src=0, tag=tag)


class Wrong:
    """An end that does something else with the ``when``-th message of simdist's own."""

    def __init__(self, inner, fault, when=4):
        self.inner, self.rank, self.size = inner, inner.rank, inner.size
        self.fault, self.left, self.lock = fault, when, threading.Lock()

    def isend(self, buf, dst, tag):
        with self.lock:
            self.left -= tag == CONTROL
            hit = self.left == 0 and tag == CONTROL
        return self.fault(self.inner, buf, dst, tag) if hit else self.inner.isend(buf, dst, tag)

    def irecv(self, buf, src, tag):
        return self.inner.irecv(buf, src, tag)


def _doubled(inner, buf, dst, tag):
    inner.isend(buf, dst, tag)
    return inner.isend(buf, dst, tag)


def _spoilt(inner, buf, dst, tag):
    return inner.isend(buf ^ 255 if len(buf) < 20 else np.concatenate([buf[:8], buf[8:] | 96]), dst, tag)


def _raised(inner, buf, dst, tag):
    raise OSError("the cable is out")


def _spin(rank, world_size):
    for _ in range(6):
        x = np.ones(3)
        dist.all_reduce(x)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (_doubled, r"was due: one was lost, doubled or overtaken by a later one"),
        (_spoilt, r"what arrived from rank \d is not what rank \d sent"),
        (_raised, r"between this rank and rank \d: OSError: the cable is out\."),
    ],
)
def test_what_a_transport_does_wrong_ends_the_run(queues, register, fault, text):
    register(lambda size: [Wrong(end, fault) for end in queues(size)])
    with pytest.raises(DistBackendError, match=text) as caught:
        sd.run(_spin, world_size=2, backend="mine", checked=False, timeout=10)
    assert re.search(r"rank \d: the transport of backend 'mine' has failed between this rank", str(caught.value))
    assert "check_transport(factory) tries its rules one by one" in str(caught.value)
