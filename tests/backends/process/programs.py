"""What the ranks of these tests run, in a module that workers import by name."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from simdist.backends.process.endpoint import Endpoint

ENTRY = "simdist.backends.process.worker:bare_entry"
TAG = (0, 0, 0)
LOCK = threading.Lock()
CALLS: list[int] = []


def ring_all_reduce(end: Endpoint, data: np.ndarray[Any, Any], step: int) -> None:
    """Sum over all ranks, in place: the textbook ring, for these tests."""
    size, right, left = end.world_size, (end.rank + 1) % end.world_size, (end.rank - 1) % end.world_size
    chunks = np.array_split(data, size)
    for turn in range(2 * size - 2):
        outgoing, incoming = chunks[(end.rank - turn) % size], chunks[(end.rank - turn - 1) % size]
        tag = (0, 1, step * 2 * size + turn)
        sent = end.isend(outgoing, right, tag, owned=True)
        end.irecv(incoming, left, tag, np.add if turn < size - 1 else None).wait()
        sent.wait()


def reduce_often(end: Endpoint, count: int, size: int) -> float:
    """``count`` all-reduces; returns the sum of the last."""
    data = np.zeros(size, dtype=np.float32)
    for step in range(count):
        data[:] = end.rank + step
        ring_all_reduce(end, data, step)
    return float(data.mean())


def take_the_lock(end: Endpoint) -> bool:
    """The lock of this module is each process's own."""
    with LOCK:
        return end.rank >= 0


def count_calls(end: Endpoint) -> int:
    """How often this module's function has been called in this process."""
    CALLS.append(end.rank)
    return len(CALLS)


def sleep_for(end: Endpoint, seconds: float) -> int:
    """Sleep."""
    time.sleep(seconds)
    return end.rank
