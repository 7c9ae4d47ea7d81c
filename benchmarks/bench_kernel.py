"""What does a simulated operation cost, measured against a bare SimPy timeout in the same run?

Four figures (KERNEL goals): a blocking call in strict mode with 100 ranks; lazy mode with 1,024 ranks, mean over equal numbers of
computes and collectives (groups of 8, shapes only): the engine alone, through the public API unchecked and untraced, and checked
and traced. Rounds are interleaved with the SimPy measurement, the medians of the ratios are printed, and exact counts of what the
kernel did.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable

import numpy as np
import simpy

import simdist as sd
import simdist.distributed as dist
from simdist.cluster import presets
from simdist.comm import DEFAULT, Call, Members, Request
from simdist.comm.chunks import bounds
from simdist.sim import Job
from simdist.sim.rank import SimRank
from simdist.tensor import MetaArray

ROUNDS = 7
GROUP = 8


def bare_timeout(processes: int, each: int) -> float:
    """Seconds for one SimPy timeout and the resumption of the process that waits for it."""
    env = simpy.Environment()

    def process() -> object:
        for _ in range(each):
            yield env.timeout(1.0)

    for _ in range(processes):
        env.process(process())  # type: ignore[arg-type]
    start = time.perf_counter()
    env.run()
    return (time.perf_counter() - start) / (processes * each)


def strict_call(ranks: int = 100, each: int = 300) -> tuple[float, int]:
    """Seconds for one blocking call (an advance of the clock) in strict mode, and the number of events it took."""

    def program(rank: SimRank) -> None:
        for _ in range(each):
            rank.charge("compute", "work", 1e-6)

    job = Job(presets.get("dgx-a100", num_devices=ranks), ranks, program, lazy=False, traced=False)
    start = time.perf_counter()
    job.run()
    return (time.perf_counter() - start) / (ranks * each), next(job.kernel.env._eid)


def engine_alone(ranks: int = 1024, each: int = 100) -> tuple[float, int]:
    """Seconds for one compute or collective, talked to directly; and the number of collectives done by the short cut."""
    buffer = MetaArray((GROUP,), np.dtype("float32"))
    signature = ("all_reduce", (GROUP,), buffer.dtype, "SUM", None)

    cuts = bounds(GROUP, GROUP)

    def program(rank: SimRank) -> None:
        first = rank.rank // GROUP * GROUP
        members = Members(1 + first // GROUP, tuple(range(first, first + GROUP)), rank.rank - first, "group")
        request = Request("all_reduce", members, DEFAULT["all_reduce"], 0, cuts, np.add, 0, signature, buffer.nbytes)
        for step in range(each):
            rank.charge("compute", "work", 1e-6)
            rank.collective(Call(request, step, buffer), False)

    job = Job(presets.get("dgx-a100", num_devices=ranks), ranks, program, traced=False, checked=False)
    start = time.perf_counter()
    job.run()
    return (time.perf_counter() - start) / (2 * ranks * each), job.meetings.num_replayed


def public_api(checked: bool, ranks: int = 1024, each: int = 100) -> tuple[float, int]:
    """The same through sd.compute and dist.all_reduce, from the moment at which all ranks have left a barrier."""

    def program(rank: int, world_size: int) -> tuple[float, float]:
        groups = [dist.new_group(range(first, first + GROUP)) for first in range(0, world_size, GROUP)]
        group = groups[rank // GROUP]
        buffer = MetaArray((GROUP,), np.dtype("float32"))
        dist.barrier()
        start = time.perf_counter()
        for _ in range(each):
            sd.compute(seconds=1e-6)
            dist.all_reduce(buffer, group=group)
        return start, time.perf_counter()

    run = sd.run(program, world_size=ranks, cluster="dgx-a100", checked=checked, traced=checked)
    starts, ends = zip(*run.results, strict=True)
    return (max(ends) - min(starts)) / (2 * ranks * each), len(run.trace.spans())


def measure(what: Callable[[], tuple[float, int]]) -> tuple[float, float, int]:
    """The median ratio to a bare timeout, the median microseconds, and the count of the last round."""
    ratios, times, count = [], [], 0
    for _ in range(ROUNDS):
        gc.collect()
        bare = bare_timeout(100, 300)
        seconds, count = what()
        bare = (bare + bare_timeout(100, 300)) / 2
        ratios.append(seconds / bare)
        times.append(seconds * 1e6)
    return statistics.median(ratios), statistics.median(times), count


def main() -> None:
    """Print the table."""
    rows = [
        ("strict mode, 100 ranks: blocking call", 2.5, strict_call, "events"),
        ("lazy, 1,024 ranks: engine alone", 0.8, engine_alone, "collectives by the short cut"),
        ("lazy, 1,024 ranks: public API, unchecked", 1.5, lambda: public_api(False), "spans"),
        ("lazy, 1,024 ranks: public API, checked, traced", 2.5, lambda: public_api(True), "spans"),
    ]
    print(f"{'':48} {'x timeout':>9} {'goal':>6} {'us':>7}   exact count")
    for name, goal, what, unit in rows:
        ratio, microseconds, count = measure(what)
        print(f"{name:48} {ratio:9.2f} {goal:6.1f} {microseconds:7.2f}   {count:,} {unit}")


if __name__ == "__main__":
    main()
