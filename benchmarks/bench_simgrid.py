"""A ring of 128 ranks on shared links, message by message: simdist and SimGrid side by side.

Sixteen nodes of eight ranks; neighbours in the ring are on different nodes, so the eight ranks of a node share its link to
the switch in every round. Both simulate each of the 32,512 messages as a flow of its own with max-min fair sharing. The two
simulated times are compared: they have to be equal. Then the host times of runs that alternate, each in a process of its own.

SimGrid has no wheel; its binding comes with the system (Debian: ``python3-simgrid``). Where it is not installed only simdist
is measured. ``SIMGRID_PYTHON`` names another interpreter than ``/usr/bin/python3``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from simdist.cluster import Cluster, Link, Node, presets
from simdist.comm import DEFAULT, Call, Members, Request
from simdist.comm.chunks import bounds
from simdist.sim import Job
from simdist.sim.rank import SimRank
from simdist.tensor import MetaArray

NODES, PER_NODE, NBYTES = 16, 8, 1_024_000
BANDWIDTH, LATENCY = 50e9, 1e-6
ROUNDS = 7


def ring() -> tuple[float, float, int]:
    """The simulated time of the ring, the seconds of host time, and the number of messages."""
    accelerators = presets.get("dgx-a100").nodes[0].accelerators
    node = Node(accelerators[:PER_NODE], fabric=Link(1e15, 0.0), num_nics=1, nic=Link(BANDWIDTH, LATENCY))
    cluster = Cluster("eight behind one card", (node,) * NODES)
    size = NODES * PER_NODE
    order = tuple(i % NODES * PER_NODE + i // NODES for i in range(size))
    buf = MetaArray((NBYTES // 4,), np.dtype("float32"))
    signature = ("all_reduce", buf.shape, buf.dtype, "SUM", None)
    cuts = bounds(NBYTES // 4, size)

    def program(rank: SimRank) -> None:
        members = Members(0, order, order.index(rank.rank), "world")
        request = Request("all_reduce", members, DEFAULT["all_reduce"], 0, cuts, np.add, 0, signature, buf.nbytes)
        rank.collective(Call(request, 0, buf), False)

    for a, b in pairwise((*order, order[0])):
        cluster.route(a, b)  # SimGrid is given its routes beforehand, too
    job = Job(cluster, size, program, traced=False)
    start = time.perf_counter()
    simulated = job.run()
    return simulated, time.perf_counter() - start, job.network.num_messages


def simgrid() -> tuple[str, float, float] | None:
    """SimGrid's version, simulated time and seconds of host time; None if it is not installed."""
    python = os.environ.get("SIMGRID_PYTHON", "/usr/bin/python3")
    words = [str(Path(__file__).with_name("simgrid_ring.py")), *map(str, (NODES, PER_NODE, NBYTES, BANDWIDTH, LATENCY))]
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run([python, *words], capture_output=True, text=True, env=clean, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    version, simulated, seconds = done.stdout.split()
    return version, float(simulated), float(seconds)


def main() -> None:
    """Measure and print."""
    if sys.argv[1:] == ["once"]:
        print(*map(repr, ring()))
        return
    ours, theirs, version = [], [], None
    for _ in range(ROUNDS):
        done = subprocess.run([sys.executable, __file__, "once"], capture_output=True, text=True, check=True)
        simulated, seconds, messages = map(float, done.stdout.split())
        ours.append(seconds)
        other = simgrid()
        if other is not None:
            version, their_time, their_seconds = other
            theirs.append(their_seconds)
    median = statistics.median(ours)
    print(
        f"ring on {NODES * PER_NODE} ranks, links shared by {PER_NODE}: {int(messages):,} messages, "
        f"{simulated * 1e6:.3f} us simulated"
    )
    print(f"  simdist          {median:.3f} s, {median / messages * 1e6:.1f} us a message")
    if version is None:
        print("  SimGrid is not installed (Debian: python3-simgrid): nothing to compare with")
        return
    agree = abs(their_time / simulated - 1)
    ratio = statistics.median([b / a for a, b in zip(ours, theirs, strict=True)])
    print(f"  SimGrid {version}   {statistics.median(theirs):.3f} s; its simulated time differs by {agree:.1e}")
    print(
        f"  simdist is ahead by {ratio:.1f} x, least {min(theirs) / max(ours):.1f}, most {max(theirs) / min(ours):.1f} (goal 10)"
    )


if __name__ == "__main__":
    main()
