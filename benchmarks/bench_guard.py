"""What does it cost to guard the arrays of asynchronous operations, measured against the same run without the guard?

* an asynchronous all_reduce and its wait, at once: nothing but communication, the dearest case;
* a receive and a send at once, and their waits, to both neighbours of a ring;
* a step of training with DistributedDataParallel, whose buckets are the library's own and not guarded.

Rounds with and without it are interleaved; medians of ratios of processor time are printed, with their spread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest import mock

import numpy as np

import simdist as sd
import simdist.distributed as dist
from simdist import nn, optim
from simdist.nn.parallel import DistributedDataParallel

ROUNDS = 7
RANKS = 8
REPEATS = 100


def reductions(rank: int, world_size: int, n: int) -> None:
    """Asynchronous all-reduces of ``n`` float32 numbers."""
    x = np.zeros(n, np.float32)
    for _ in range(REPEATS):
        dist.all_reduce(x, async_op=True).wait()  # type: ignore[union-attr]


def ring(rank: int, world_size: int, n: int) -> None:
    """Messages of ``n`` float32 numbers to the right neighbour."""
    x, y = np.ones(n, np.float32), np.empty(n, np.float32)
    for _ in range(REPEATS):
        works = [dist.irecv(y, (rank - 1) % world_size), dist.isend(x, (rank + 1) % world_size)]
        for work in works:
            work.wait()


def training(rank: int, world_size: int, width: int) -> None:
    """Steps of data-parallel training."""
    model = DistributedDataParallel(nn.MLP([width, width, 10]))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    x = sd.tensor(np.ones((8, width), np.float32))
    for _ in range(5):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "all_reduce, 4 kB": (reductions, (1 << 10,)),
    "all_reduce, 1 MB": (reductions, (1 << 18,)),
    "messages, 4 kB": (ring, (1 << 10,)),
    "messages, 1 MB": (ring, (1 << 18,)),
    "training, width 256": (training, (256,)),
}


def seconds(program: Callable[..., Any], args: tuple[int, ...], guarded: bool) -> float:
    """Seconds of this process (all simulated ranks are in it) for one run."""
    with ExitStack() as stack:
        for module in () if guarded else ("issue", "point_to_point"):
            stack.enter_context(mock.patch(f"simdist.distributed.{module}.lend", lambda lender, lent: None))
        began = time.process_time()
        sd.run(program, *args, world_size=RANKS)
        return time.process_time() - began


def main() -> None:
    """Print a table."""
    print(f"run with the guard / without it, median of {ROUNDS} ({RANKS} simulated ranks)")
    for name, (program, args) in PROGRAMS.items():
        ratios = []
        for _ in range(ROUNDS):
            plain = seconds(program, args, False)
            ratios.append(seconds(program, args, True) / plain)
        low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
        print(f"  {name:22} {middle:5.2f}   ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
