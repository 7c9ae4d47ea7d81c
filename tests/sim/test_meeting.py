"""The short cut, the lazy clock and the strict clock agree bit for bit: times, data, spans and messages."""

from itertools import pairwise

import numpy as np
import pytest

from simdist.comm import DEFAULT
from simdist.errors import CollectiveMismatchError
from simdist.tensor import MetaArray
from tests.sim.programs import MODES, call, picture, run

COLLECTIVES = [name for name in DEFAULT if name not in ("gather", "scatter", "all_to_all")]


def work(rank, step):
    """Different for every rank and step, so that nobody arrives together."""
    return 1e-6 * ((7 * rank.rank + 3 * step) % 5)


def collective_program(name, n, skew):
    def program(rank):
        x = np.arange(n, dtype=np.float32) * np.float32(0.1) * (rank.rank + 1)
        for step in range(3):
            rank.charge("compute", "work", work(rank, step) if skew else 1e-6)
            buffer = x if name != "barrier" else np.empty(0, np.uint8)
            rank.collective(call(rank, step, buffer, collective=name), async_op=False)
        return x

    return program


@pytest.mark.parametrize("name", COLLECTIVES)
@pytest.mark.parametrize("skew", [True, False])
@pytest.mark.parametrize("world_size", [1, 2, 3, 8])
def test_blocking_collectives(name, skew, world_size):
    for n in (0, 5, 24 * world_size):
        jobs = {mode: run(collective_program(name, n, skew), world_size, **options) for mode, options in MODES.items()}
        expected = picture(jobs["strict messages"])
        for mode, job in jobs.items():
            assert picture(job) == expected, mode
        assert jobs["short"].meetings.num_replayed == (3 if DEFAULT[name].symmetric else 0)
        assert jobs["messages"].meetings.num_replayed == 0


@pytest.mark.parametrize("world_size", [2, 4, 16])
def test_across_nodes_where_hops_differ(world_size):
    jobs = [run(collective_program("all_reduce", 160, False), world_size, **options) for options in MODES.values()]
    assert all(picture(job) == picture(jobs[0]) for job in jobs)


def overlapping(rank):
    """Asynchronous collectives beside computing and beside a blocking one of another group, with messages between."""
    x, y = np.full(64, rank.rank + 1, np.float32), np.full(40, rank.rank + 2, np.float32)
    half = (0, 1) if rank.rank < 2 else (2, 3)
    for step in range(3):
        rank.charge("backward", "w", work(rank, step))
        first = rank.collective(call(rank, step, x), async_op=True)
        rank.charge("backward", "w", work(rank, step + 1))
        rank.collective(call(rank, step, y, half, group=1 + rank.rank // 2), async_op=False)
        peer = rank.rank ^ 1
        token = np.array([rank.rank], np.float32)
        got = np.empty(1, np.float32)
        receive = rank.irecv(got, peer, (0, 0, 5), None)
        send = rank.isend(token, peer, (0, 0, 5), None)
        send.wait()
        receive.wait()
        assert got[0] == peer
        first.wait()
    return np.concatenate([x, y])


def test_streams_groups_and_messages_together():
    jobs = {mode: run(overlapping, 4, **options) for mode, options in MODES.items()}
    for mode, job in jobs.items():
        assert picture(job) == picture(jobs["strict messages"]), mode


def test_stragglers_and_jitter_do_not_break_the_agreement():
    options = {"stragglers": {1: 2.5}, "jitter": 0.2, "seed": 3}
    jobs = [run(overlapping, 4, **mode, **options) for mode in MODES.values()]
    assert all(picture(job) == picture(jobs[0]) for job in jobs)


def test_main_stream_is_tiled():
    job = run(overlapping, 4, jitter=0.1)
    for rank in range(4):
        spans = sorted((s for s in job.spans if s[0] == rank and s[1] == "main"), key=lambda s: s[4])
        assert spans[0][4] == 0.0
        assert spans[-1][5] == job.time
        assert all(a[5] == b[4] for a, b in pairwise(spans))


def test_waiting_for_a_straggler_is_told_apart_from_moving_bytes():
    def program(rank):
        rank.charge("compute", "w", 5e-3 if rank.rank == 2 else 1e-3)
        rank.collective(call(rank, 0, np.zeros(4096, np.float32)), async_op=False)

    job = run(program, 4)
    spans = [s for s in job.spans if s[0] == 0 and s[1] == "main"]
    assert [(s[2], s[4]) for s in spans] == [("compute", 0.0), ("wait", 1e-3), ("communication", 5e-3)]


@pytest.mark.parametrize("mode", MODES)
def test_mismatch_is_raised_on_every_rank(mode):
    seen = {}

    def program(rank):
        x = np.zeros(4 if rank.rank != 1 else 5, np.float32)
        try:
            rank.collective(call(rank, 0, x), async_op=False)
        except CollectiveMismatchError as error:
            seen[rank.rank] = str(error)

    run(program, 3, **MODES[mode])
    assert sorted(seen) == [0, 1, 2]
    text = seen[0]
    for part in ("collective 0 of group 'world'", "all_reduce of (4,) float32", "all_reduce of (5,) float32", "rank 1"):
        assert part in text
    assert len(set(seen.values())) == 1


def send(rank, peer, n, tag):
    return rank.isend(np.zeros(n), peer, (0, 0, tag), None)


def receive(rank, peer, n, tag):
    return rank.irecv(np.zeros(n), peer, (0, 0, tag), None)


def late_leaf(rank):
    """Rank 3 comes late to a broadcast whose root is done at once; afterwards ranks 1 and 4 share a link of the node."""
    if rank.rank == 10:
        rank.charge("compute", "late", 1.0)
        send(rank, 3, 4, 5).wait()
    if rank.rank == 3:
        receive(rank, 10, 4, 5).wait()
    if rank.rank < 4:
        rank.collective(call(rank, 0, np.ones(4), (0, 1, 2, 3), group=1, collective="broadcast"), async_op=False)
    if rank.rank == 4:
        rank.charge("compute", "half", 0.5)
    for src, dst, tag in ((1, 8, 1), (4, 9, 2)):
        if rank.rank == src:
            send(rank, dst, 1_000_000, tag).wait()
        if rank.rank == dst:
            receive(rank, src, 1_000_000, tag).wait()


def busy_leaf(rank):
    """The same, with a leaf that is late because it asks for other work, and so does not qualify for the short cut."""
    if rank.rank == 3:
        rank.charge("compute", "late", 1.0)
        other = receive(rank, 0, 4, 5)
        rank.is_completed(other)
    if rank.rank < 4:
        rank.collective(call(rank, 0, np.ones(4), (0, 1, 2, 3), group=1, collective="broadcast"), async_op=False)
    if rank.rank == 3:
        other.wait()
    if rank.rank == 0:
        send(rank, 3, 4, 5).wait()
    if rank.rank == 4:
        rank.charge("compute", "half", 0.5)
    for src, dst, tag in ((1, 8, 1), (4, 9, 2)):
        if rank.rank == src:
            send(rank, dst, 1_000_000, tag).wait()
        if rank.rank == dst:
            receive(rank, src, 1_000_000, tag).wait()


@pytest.mark.parametrize("program", [late_leaf, busy_leaf])
@pytest.mark.parametrize("cluster", ["dgx1-v100", "dgx-a100"])
def test_nobody_goes_on_in_the_past(program, cluster):
    """A rooted collective lets its root go before the last leaf comes: what the root does next is in time on shared links."""
    jobs = {mode: run(program, 16, cluster, **options) for mode, options in MODES.items()}
    for mode, job in jobs.items():
        assert picture(job) == picture(jobs["strict messages"]), mode


def test_an_unchecked_run_may_bring_different_collectives_to_one_meeting():
    """Matched by order as in bare libraries: what cannot fit ends as a deadlock or a size error, not in our own failure."""
    from simdist.errors import DeadlockError

    def program(rank):
        name = "all_reduce" if rank.rank == 0 else "broadcast"
        rank.collective(call(rank, 0, np.ones(4), collective=name), async_op=False)

    with pytest.raises((DeadlockError, ValueError)):
        run(program, 3, checked=False)


@pytest.mark.parametrize("world_size", [16, 24])
@pytest.mark.parametrize("n", [48, 1000])
@pytest.mark.parametrize("late", [0.0, 1e-5])
def test_a_ring_of_shapes_across_nodes_is_timed_at_once_and_is_the_messages(world_size, n, late):
    """Hops inside a node and between nodes differ; ranks come at different times; chunks may be unequal."""

    def program(rank):
        rank.charge("compute", "w", 1e-9 + late * (rank.rank * 7 % 5))
        rank.collective(call(rank, 0, MetaArray((n,), np.dtype("float64"))), False)

    pictures = [picture(run(program, world_size, shortcut=shortcut)) for shortcut in (True, False)]
    assert pictures[0] == pictures[1]
