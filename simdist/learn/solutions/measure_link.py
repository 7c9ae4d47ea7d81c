"""How does one measure a link?

With one clock: there and back, half of it. With two sizes: the small one shows α, the difference shows B. And after a first
message that only sees to it that both are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist
from simdist.clock import current_time

__all__ = ["naive", "reference"]


def _there_and_back(x: Any, rank: int) -> float:
    """Seconds of one way, by rank 0's clock."""
    start = current_time()
    if rank == 0:
        dist.send(x, 1)
        dist.recv(x, 1)
    else:
        dist.recv(x, 0)
        dist.send(x, 0)
    return (current_time() - start) / 2


def reference(rank: int, world_size: int) -> tuple[float, float]:
    """Once to meet, once small, once large."""
    small, large = np.zeros(1), np.zeros(1_000_000)
    _there_and_back(small, rank)
    less, more = _there_and_back(small, rank), _there_and_back(large, rank)
    bandwidth = (large.nbytes - small.nbytes) / (more - less)
    return less - small.nbytes / bandwidth, bandwidth


def naive(rank: int, world_size: int) -> tuple[float, float]:
    """One small message and one of a megabyte: the first waits for rank 1, and α is in both."""
    small, large = np.zeros(1), np.zeros(125_000)
    less, more = _there_and_back(small, rank), _there_and_back(large, rank)
    return less, large.nbytes / more
