"""A world of threads and queues: the smallest transport on which the algorithms run, and a recorder of what was sent."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, Call, Members, ReduceOp, Request, execute
from simdist.comm.chunks import bounds
from simdist.comm.layout import FLAT, Layout
from simdist.comm.reduce_op import combine_into

PATIENCE = 20.0


class Done:
    """A message that has been taken."""

    def wait(self) -> None:
        """Nothing is left to do."""


class Arriving:
    """A receive that has been posted."""

    def __init__(self, box: queue.Queue[Any], buf: Any, combine: np.ufunc | None, lower: bool) -> None:
        self.box, self.buf, self.combine, self.lower = box, buf, combine, lower

    def wait(self) -> None:
        combine_into(self.buf, self.box.get(timeout=PATIENCE), self.combine, self.lower)


class Threads:
    """The transport of one rank; all share ``boxes`` and ``sent`` (src, dst, elements)."""

    def __init__(
        self, rank: int, size: int, boxes: dict[Any, queue.Queue[Any]], sent: list[tuple[int, int, int]]
    ) -> None:
        self.rank, self.size, self.boxes, self.sent = rank, size, boxes, sent

    def isend(self, buf: Any, dst: int, tag: Any) -> Done:
        assert dst != self.rank
        self.sent.append((self.rank, dst, buf.size))
        self.boxes[self.rank, dst].put(buf.copy())
        return Done()

    def irecv(self, buf: Any, src: int, tag: Any, combine: np.ufunc | None = None) -> Arriving:
        assert src != self.rank
        return Arriving(self.boxes[src, self.rank], buf, combine, src < self.rank)


def request(
    name: str, rank: int, size: int, length: int, root: int = 0, op: ReduceOp = ReduceOp.SUM, layout: Layout = FLAT
) -> Request:
    """One rank's request for the algorithm ``name`` on a float64 buffer."""
    algorithm = ALGORITHMS[name]
    pieces = algorithm.pieces(size, layout)
    reducing = algorithm.collective in ("all_reduce", "reduce", "reduce_scatter")
    return Request(
        name=algorithm.collective,
        members=Members(0, tuple(range(size)), rank, "world"),
        algorithm=algorithm,
        root=root,
        cuts=bounds(length, pieces) if pieces > 1 else None,
        combine=op.combine if reducing else None,
        divisor=size if reducing and op is ReduceOp.AVG else 0,
        signature=(algorithm.collective, (length,), "float64", op.name if reducing else None, root),
        nbytes=8 * length,
        layout=layout,
    )


Play = Callable[..., list[tuple[int, int, int]]]


@pytest.fixture
def play() -> Play:
    """Run an algorithm on everybody's buffers, in place; gives the messages (src, dst, elements)."""

    def run(name: str, buffers: list[Any], root: int = 0, op: ReduceOp = ReduceOp.SUM) -> list[tuple[int, int, int]]:
        size = len(buffers)
        boxes = {(a, b): queue.Queue[Any]() for a in range(size) for b in range(size)}
        sent: list[tuple[int, int, int]] = []
        failures: list[BaseException] = []

        def be(rank: int) -> None:
            try:
                call = Call(request(name, rank, size, len(buffers[rank]), root, op), 0, buffers[rank])
                execute(call, Threads(rank, size, boxes, sent))
            except BaseException as error:  # shown by the test, not by the thread
                failures.append(error)

        threads = [threading.Thread(target=be, args=(rank,), daemon=True) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        if failures:
            raise failures[0]
        assert not any(thread.is_alive() for thread in threads), "a rank hangs"
        assert all(box.empty() for box in boxes.values()), "a message was sent that nobody took"
        return sent

    return run


@pytest.fixture
def numbers() -> Callable[[int, int], list[Any]]:
    """Buffers of ``size`` ranks with ``length`` random numbers each."""
    return lambda size, length: [np.random.default_rng([7, rank]).standard_normal(length) for rank in range(size)]
