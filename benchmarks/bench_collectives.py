"""What does a simulated collective cost, measured against bare numpy in the same run?

* The recurrence of a ring all-reduce on 1,024 ranks at level ``steps``, against a numpy loop of as many rounds with one
  addition and one maximum (goal: 20 times).
* all_reduce of 1 MB of real numbers on 64 simulated ranks at the levels above ``messages``, against the additions in the
  algorithm's order and the copies out, by hand (goal: 1.3 times).

Rounds are interleaved; medians of ratios are printed, and exact counts.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

import simdist as sd
import simdist.distributed as dist
from simdist.cluster import presets
from simdist.comm import ALGORITHMS, Call, Members, Request
from simdist.comm.chunks import bounds
from simdist.sim.timetable import timetable
from simdist.tensor import MetaArray

ROUNDS = 7
RANKS = 1024
RING = ALGORITHMS["ring_all_reduce"]


def recurrence() -> tuple[float, float]:
    """Seconds of the recurrence, and of the numpy loop."""
    ranks = tuple(range(RANKS))
    flat = MetaArray((1 << 20,), np.float32)
    cuts = bounds(flat.size, RANKS)
    calls = [
        Call(Request("all_reduce", Members(0, ranks, r, "world"), RING, 0, cuts, np.add, 0, (), 0), 0, flat)
        for r in ranks
    ]
    table = timetable(calls, presets.get("dgx-a100", num_devices=RANKS))
    starts = np.random.default_rng(0).random(RANKS).tolist()
    began = time.perf_counter()
    table.finish(starts)
    ours = time.perf_counter() - began
    clock, other = np.zeros(RANKS), np.ones(RANKS)
    began = time.perf_counter()
    for _ in range(2 * (RANKS - 1)):
        np.add(clock, other, out=clock)
        np.maximum(clock, other, out=clock)
    return ours, time.perf_counter() - began


def by_hand(buffers: list[np.ndarray]) -> float:
    """Seconds of the ring's additions in its order, and of a copy to each rank."""
    size, n = len(buffers), buffers[0].size
    cuts = bounds(n, size)
    began = time.perf_counter()
    out = np.empty_like(buffers[0])
    for chunk in range(size):
        lo, hi = cuts[chunk], cuts[chunk + 1]
        total = out[lo:hi]
        np.add(buffers[(chunk + 1) % size][lo:hi], buffers[(chunk + 2) % size][lo:hi], out=total)
        for k in range(3, size + 1):
            np.add(total, buffers[(chunk + k) % size][lo:hi], out=total)
    for buffer in buffers:
        buffer[...] = out
    return time.perf_counter() - began


def real_numbers(network: str, each: int = 20) -> tuple[float, int]:
    """Seconds of one all_reduce of 1 MB on 64 ranks, and the number of collectives."""

    def program(rank: int, world_size: int) -> tuple[float, float]:
        x = np.zeros(1 << 18, np.float32)
        dist.barrier()
        began = time.perf_counter()
        for _ in range(each):
            dist.all_reduce(x)
        return began, time.perf_counter()

    run = sd.run(program, world_size=64, cluster="dgx-a100", network=network)
    starts, ends = zip(*run.results, strict=True)
    return (max(ends) - max(starts)) / each, each


def main() -> None:
    """Print the figures."""
    pairs = [recurrence() for _ in range(ROUNDS)]
    ratio = statistics.median(ours / bare for ours, bare in pairs)
    print(
        f"ring of 1,024 ranks, steps: {ratio:.2f} x a numpy loop of as many rounds (goal 20); {2 * (RANKS - 1)} rounds"
    )
    buffers = [np.zeros(1 << 18, np.float32) for _ in range(64)]
    for network in ("formula", "coflow", "steps"):
        ratios = []
        for _ in range(ROUNDS):
            bare = min(by_hand(buffers) for _ in range(3))
            ours, count = real_numbers(network)
            ratios.append(ours / ((bare + min(by_hand(buffers) for _ in range(3))) / 2))
        print(
            f"all_reduce of 1 MB on 64 ranks, {network}: {statistics.median(ratios):.2f} x the additions and copies by hand "
            f"(goal 1.3); {count} collectives"
        )


if __name__ == "__main__":
    main()
