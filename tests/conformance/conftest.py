"""Transports that break one rule each, over the queues of the example."""

from __future__ import annotations

import importlib.util
import queue
from pathlib import Path

import pytest

from simdist.backends.registry import register_backend, unregister_backend

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_backend.py"


def _module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def own():
    """The module of the example."""
    module = _module("own_backend", EXAMPLE)
    unregister_backend("queues")
    return module


@pytest.fixture(scope="session")
def transports():
    """The module beside this one."""
    return _module("transports", Path(__file__).with_name("transports.py"))


@pytest.fixture
def register():
    """Register a factory as ``mine`` for the length of a test."""
    yield lambda factory: register_backend("mine", factory)
    unregister_backend("mine")


@pytest.fixture
def broken(own):
    """``broken(name)``: the factory of a transport that does something wrong."""

    class Transport(own.QueueTransport):
        def box(self, src, dst, tag):
            return self.boxes[src, dst, tag]

        def isend(self, buf, dst, tag):
            self.box(self.rank, dst, tag).put(buf.copy())
            return own.Delivery()

        def irecv(self, buf, src, tag):
            return own.Delivery(self.box(src, self.rank, tag), buf)

    class Reordering(Transport):
        """Each second message overtakes the one before it."""

        def __init__(self, *args):
            super().__init__(*args)
            self.held = {}

        def isend(self, buf, dst, tag):
            held = self.held.pop((dst, tag), None)
            if held is None and len(buf) == 100:
                self.held[dst, tag] = buf.copy()
            else:
                super().isend(buf, dst, tag)
                if held is not None:
                    super().isend(held, dst, tag)
            return own.Delivery()

    class Counting(Transport):
        sent = 0

        def isend(self, buf, dst, tag):
            self.sent += 1
            return self.odd(buf, dst, tag) if self.sent % 10 == 7 else super().isend(buf, dst, tag)

    class Losing(Counting):
        def odd(self, buf, dst, tag):
            return own.Delivery()

    class Doubling(Counting):
        def odd(self, buf, dst, tag):
            super().isend(buf, dst, tag)
            return Transport.isend(self, buf, dst, tag)

    class Spoiling(Counting):
        def odd(self, buf, dst, tag):
            return Transport.isend(self, buf ^ 1, dst, tag)

    class Aliasing(Transport):
        def isend(self, buf, dst, tag):
            self.box(self.rank, dst, tag).put(buf)
            return own.Delivery()

    class Tagless(Transport):
        def box(self, src, dst, tag):
            return self.boxes[src, dst, 0]

    class Sourceless(Transport):
        def box(self, src, dst, tag):
            return self.boxes[0, dst, tag]

    class Overflowing(Transport):
        def irecv(self, buf, src, tag):
            work = super().irecv(buf, src, tag)
            plain = work.wait

            def wait(timeout=None):
                plain(timeout)
                whole = buf if buf.base is None else buf.base
                if whole.ndim == 1 and len(whole) == len(buf) + 16:
                    whole[-1] = 0

            work.wait = wait
            return work

    class Patient(Transport):
        """Its waits know no limit."""

        def irecv(self, buf, src, tag):
            work = super().irecv(buf, src, tag)
            plain = work.wait
            work.wait = lambda timeout=None: plain()
            return work

    class Forgetful(Transport):
        """A wait that was given up loses the message."""

        def irecv(self, buf, src, tag):
            work = super().irecv(buf, src, tag)
            plain = work.wait

            def wait(timeout=None):
                try:
                    plain(timeout)
                except TimeoutError:
                    work.box = queue.SimpleQueue()
                    raise

            work.wait = wait
            return work

    class Impatient(Transport):
        """A wait with a limit just returns when it is over."""

        def irecv(self, buf, src, tag):
            work = super().irecv(buf, src, tag)
            plain = work.wait

            def wait(timeout=None):
                try:
                    plain(timeout)
                except TimeoutError:
                    return

            work.wait = wait
            return work

    class Blocking(Transport):
        """A send waits for the other side's send to be received first: both wait for ever."""

        def isend(self, buf, dst, tag):
            work = super().isend(buf, dst, tag)
            if len(buf) > 2**22:
                work.box, work.place = queue.SimpleQueue(), buf
            return work

    class Raising(Transport):
        def irecv(self, buf, src, tag):
            raise OSError("the cable is out")

    kinds = [Reordering, Losing, Doubling, Spoiling, Aliasing, Tagless, Sourceless, Overflowing, Patient, Forgetful]
    table = {kind.__name__.lower(): kind for kind in [*kinds, Impatient, Blocking, Raising, Transport]}

    def factory_of(name):
        def factory(size):
            boxes = own.Boxes()
            return [table[name](rank, size, boxes) for rank in range(size)]

        return factory

    return factory_of
