"""Ranks whose messages go on while they sleep: bit for bit what ranks that wake for each message do (strict mode)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from simdist.cluster import Cluster, Link, Node, presets
from simdist.comm.algorithm import ALGORITHMS
from simdist.comm.call import Call, Members, Request
from simdist.comm.choose import Chooser
from simdist.comm.chunks import bounds
from simdist.errors import DeadlockError, MessageMismatchError
from simdist.sim import Job
from tests.sim.programs import call, picture

NODE = presets.get("dgx-a100").nodes[0]
CLUSTERS = {
    "ports": presets.get("dgx-a100"),
    "cables": presets.get("dgx1-v100"),
    "one card for all": Cluster(
        "one card for all", (Node(NODE.accelerators[:4], fabric=NODE.fabric, num_nics=1, nic=Link(1e9, 2e-6)),) * 2
    ),
    "half duplex": Cluster("half duplex", (Node(NODE.accelerators, fabric=Link(1e9, 1e-6, duplex="half")),)),
}
MOVING = [row for row in ALGORITHMS.values() if row.collective not in ("gather", "scatter", "all_to_all")]


def both(program: Any, cluster: Cluster, ranks: int, **options: Any) -> tuple[Job, Job]:
    """The job with sleeping ranks and the one with waking ranks; a job's time is an attribute."""
    jobs = []
    for lazy in (True, False):
        job: Any = Job(cluster, ranks, program, lazy=lazy, shortcut=False, **options)
        job.time = job.run()
        jobs.append(job)
    return jobs[0], jobs[1]


@pytest.mark.parametrize("machines", CLUSTERS)
@pytest.mark.parametrize("row", MOVING, ids=lambda row: row.name)
def test_every_algorithm(row: Any, machines: str) -> None:
    cluster = CLUSTERS[machines]
    for size, n, skew in product((1, 3, 8), (0, 7, 96), (0.0, 1e-6)):
        ranks = tuple(range(size))
        chosen, layout = Chooser(cluster, {row.collective: row}).choose(row.collective, ranks, 4 * n)
        pieces = chosen.pieces(size, layout)
        cuts = bounds(n, pieces) if pieces > 1 else None

        def program(rank: Any, chosen: Any = chosen, layout: Any = layout, cuts: Any = cuts, **given: Any) -> Any:
            ranks, n, skew = given["ranks"], given["n"], given["skew"]
            x = np.arange(n, dtype=np.float32) * np.float32(0.1) * (rank.rank + 1)
            members = Members(0, ranks, rank.rank, "world")
            for step in range(2):
                rank.charge("compute", "work", skew * (rank.rank * 7 % 5))
                signature = (chosen.collective, x.shape, x.dtype, "sum", None)
                request = Request(
                    chosen.collective, members, chosen, 0, cuts, np.add, len(ranks), signature, x.nbytes, layout
                )
                rank.collective(Call(request, step, x), False)
            return x

        sleeping, waking = both(
            lambda rank, r=ranks, n=n, s=skew, p=program: p(rank, ranks=r, n=n, skew=s), cluster, size
        )
        assert picture(sleeping) == picture(waking)


def crowded(rank: Any) -> Any:
    """Collectives of two groups and of the world at once, and messages beside them."""
    half = tuple(r for r in range(rank.world_size) if r % 2 == rank.rank % 2)
    x, y, z = (np.full(200, rank.rank + k, np.float32) for k in range(3))
    peer = rank.rank ^ 1
    got = np.empty(100, np.float32)
    for step in range(3):
        rank.charge("backward", "w", 1e-6 * ((7 * rank.rank + 3 * step) % 5))
        works = [
            rank.collective(call(rank, step, x), async_op=True),
            rank.collective(call(rank, step, y, half, group=1 + rank.rank % 2), async_op=True),
        ]
        receive, send = (
            rank.irecv(got, peer, (0, 0, 5), None),
            rank.isend(np.full(100, rank.rank, np.float32), peer, (0, 0, 5), None),
        )
        rank.collective(call(rank, step, z, ranks=None, group=3, collective="broadcast", root=step), async_op=False)
        send.wait()
        receive.wait()
        for work in works:
            work.wait()
    return np.concatenate([x, y, z, got])


@pytest.mark.parametrize("machines", CLUSTERS)
def test_in_a_crowd(machines: str) -> None:
    for options in ({}, {"stragglers": {1: 2.5}, "jitter": 0.2, "seed": 3}):
        sleeping, waking = both(crowded, CLUSTERS[machines], 8, **options)
        assert picture(sleeping) == picture(waking)


def test_who_waits_for_a_missing_rank_says_for_which_message() -> None:
    def program(rank: Any) -> None:
        if rank.rank != 2:
            rank.collective(call(rank, 0, np.zeros(8, np.float32)), False)

    texts = []
    for lazy in (True, False):
        with pytest.raises(DeadlockError) as caught:
            Job(CLUSTERS["ports"], 4, program, lazy=lazy, shortcut=False).run()
        texts.append(str(caught.value))
    assert "rank 1 at 0 s waits in all_reduce #0 of group 'world': send to rank 2 (needs rank 2)" in texts[0]
    assert texts[0] == texts[1]


def test_messages_of_unequal_size_are_an_error_on_both_sides() -> None:
    """Only an algorithm whose calls pass the comparison can do this: here the signature lies."""
    seen = {}

    def program(rank: Any) -> None:
        made = call(rank, 0, np.zeros(8 if rank.rank else 16, np.float32))
        lying = Request(
            *[(0,) if name == "signature" else getattr(made.request, name) for name in Request.__dataclass_fields__]
        )
        try:
            rank.collective(Call(lying, 0, made.flat), False)
        except MessageMismatchError as error:
            seen[rank.rank] = str(error)

    Job(CLUSTERS["ports"], 2, program, shortcut=False).run()
    assert seen[0] == seen[1]
    assert seen[0].endswith(
        "(all_reduce #0 of group 'world'), which expects 16 bytes: both sides must use the same shape and dtype."
    )
