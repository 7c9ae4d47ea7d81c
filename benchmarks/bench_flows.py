"""What does a shared network cost to simulate?

Two figures (KERNEL goals). 192 contended buckets on 1,024 ranks: eight data-parallel groups of 128 ranks each, one rank of each
group in every node, all groups behind the node's one uplink; 24 buckets each; every collective is a coflow, links that are alike
are counted once; the time of the flows alone, and its ratio to a bare loop that pushes and pops as many events on a heap. And a
ring all-reduce at the level ``messages``: microseconds for each message if every rank sends its own, and what 1,024 ranks
take, with the short cut that ports of one owner allow and without it (measured with the argument ``whole``, else 256 ranks
are measured and scaled by the number of messages, which says so).
"""

from __future__ import annotations

import heapq
import statistics
import sys
import time

import numpy as np

from simdist.cluster import Cluster, Link, Node, presets
from simdist.comm import DEFAULT, Call, Members, Request
from simdist.comm.chunks import bounds
from simdist.sim import Job
from simdist.sim.coflow import Coflow
from simdist.sim.kernel import Kernel
from simdist.sim.level import Timetables
from simdist.sim.network import Network
from simdist.sim.rank import SimRank
from simdist.tensor import MetaArray

NODES, PER_NODE, BUCKETS = 128, 8, 24


def cluster() -> Cluster:
    """Nodes of eight devices behind one card."""
    node = presets.get("dgx-a100").nodes[0]
    shared = Node(node.accelerators, fabric=node.fabric, num_nics=1, nic=Link(50e9, 2e-6))
    return Cluster("one card for eight", (shared,) * NODES)


def call(ranks: tuple[int, ...], me: int, group: int, sequence: int, buf: MetaArray) -> Call:
    """One member's all-reduce."""
    members = Members(group, ranks, me, f"group {group}")
    signature = ("all_reduce", buf.shape, buf.dtype, "SUM", None)
    cuts = bounds(buf.shape[0], len(ranks))
    algorithm = DEFAULT["all_reduce"]
    return Call(Request("all_reduce", members, algorithm, 0, cuts, np.add, 0, signature, buf.nbytes), sequence, buf)


def contended(machines: Cluster) -> tuple[float, int]:
    """Seconds for all buckets of all groups, and how often rates were computed."""
    kernel = Kernel()
    network = Network(kernel, machines, 0, None)
    level = Coflow(Timetables(machines).of, network)
    buf = MetaArray((1 << 20,), np.dtype("float32"))
    work = []
    for group in range(PER_NODE):
        ranks = tuple(range(group, NODES * PER_NODE, PER_NODE))
        work.append([[call(ranks, me, group, k, buf) for me in range(NODES)] for k in range(BUCKETS)])

    def issue(group: int, k: int, now: float) -> None:
        def done(ends: list[float]) -> None:
            if k + 1 < BUCKETS:
                issue(group, k + 1, max(ends))

        calls = work[group][k]
        level.time(calls, level.tables(calls), [now] * NODES, done)

    start = time.perf_counter()
    for group in range(PER_NODE):
        issue(group, 0, 1e-4 * group)
    kernel.run(lambda task, error: None)
    return time.perf_counter() - start, network.shared.recomputed


def bare_loop(events: int = 2 * PER_NODE * BUCKETS) -> float:
    """Seconds to push and pop as many events."""
    start = time.perf_counter()
    heap: list[tuple[float, int]] = []
    for number in range(events):
        heapq.heappush(heap, (number * 0.5, number))
    while heap:
        heapq.heappop(heap)
    return time.perf_counter() - start


def ring(ranks: int, shortcut: bool) -> float:
    """Seconds for one ring all-reduce at the level ``messages``; without the short cut each rank sends its own."""
    buf = MetaArray((ranks * 1000,), np.dtype("float32"))
    everybody = tuple(range(ranks))

    def program(rank: SimRank) -> None:
        rank.collective(call(everybody, rank.rank, 0, 0, buf), False)

    job = Job(presets.get("dgx-h100", num_devices=ranks), ranks, program, shortcut=shortcut, traced=False)
    start = time.perf_counter()
    job.run()
    return time.perf_counter() - start


def main(words: list[str]) -> None:
    """Measure and print."""
    machines = cluster()
    machines.links  # noqa: B018  the graph is made once
    contended(machines)  # and the routes are found once
    found = [(contended(machines), bare_loop()) for _ in range(5)]
    seconds = statistics.median(run[0] for run, _ in found)
    ratio = statistics.median(run[0] / bare for run, bare in found)
    total, ranks = PER_NODE * BUCKETS, NODES * PER_NODE
    print(f"{total} contended buckets on {ranks} ranks: {seconds:.3f} s (goal 0.5 s), {ratio:.0f} x a bare heap,")
    print(f"    {found[0][0][1]} recomputations of rates")
    size = 1024 if "whole" in words else 256
    took = ring(size, shortcut=False)
    each = took / (2 * (size - 1) * size)
    note = "measured" if size == 1024 else f"scaled from {size} ranks"
    print(f"ring at level messages, every rank sends its own: {each * 1e6:.1f} us a message;")
    print(f"    1024 ranks: {each * 2 * 1023 * 1024:.1f} s, {note} (goal 15 s)")
    print(
        f"the same on regular placement with the short cut (equal bit for bit): {ring(1024, shortcut=True):.2f} s (goal 15 s)"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
