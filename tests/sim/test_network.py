"""When messages arrive, worked out by hand on the clusters' own numbers."""

import numpy as np
import pytest

from simdist.cluster import Cluster, Link, Node, presets
from simdist.errors import MessageMismatchError
from simdist.sim import Job
from simdist.tensor import MetaArray
from tests.sim.programs import MODES, call, run

KEY = (0, 0, 0)


def post(rank, peer, n, send, tag=KEY):
    buf = np.zeros(n, np.uint8)
    return rank.isend(buf, peer, tag, None) if send else rank.irecv(buf, peer, tag, None)


def wire(a=0, b=1, cluster="dgx-a100", world_size=2):
    route = presets.get(cluster, num_devices=world_size).route(a, b)
    return route.latency, route.bandwidth


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n", [0, 1, 1000, 1_000_000])
def test_one_message_takes_latency_plus_n_over_bandwidth(mode, n):
    latency, bandwidth = wire()
    job = run(lambda rank: post(rank, 1 - rank.rank, n, rank.rank == 0).wait(), 2, **MODES[mode])
    assert job.ranks[0].main.now == n / bandwidth
    assert job.ranks[1].main.now == n / bandwidth + latency


@pytest.mark.parametrize("mode", MODES)
def test_a_send_is_complete_when_its_receive_is_posted_and_its_bytes_have_left(mode):
    latency, bandwidth = wire()

    def program(rank):
        if rank.rank == 1:
            rank.charge("compute", "late", 1e-3)
        post(rank, 1 - rank.rank, 8, rank.rank == 0).wait()

    job = run(program, 2, **MODES[mode])
    assert job.ranks[0].main.now == 1e-3 + 8 / bandwidth
    assert job.ranks[1].main.now == 1e-3 + 8 / bandwidth + latency


def test_the_eager_limit_lets_small_messages_go_ahead():
    """64 KiB at a limit of 64 KiB leave at once; one byte more waits for the receiver."""
    latency, bandwidth = wire()

    def program(n):
        def fn(rank):
            if rank.rank == 1:
                rank.charge("compute", "late", 1e-3)
            post(rank, 1 - rank.rank, n, rank.rank == 0).wait()

        return fn

    small = run(program(2**16), 2, eager_limit=2**16)
    assert small.ranks[0].main.now == 2**16 / bandwidth
    assert small.ranks[1].main.now == 1e-3
    large = run(program(2**16 + 1), 2, eager_limit=2**16)
    assert large.ranks[0].main.now == 1e-3 + (2**16 + 1) / bandwidth


@pytest.mark.parametrize("mode", MODES)
def test_two_senders_to_one_receiver_share_its_port(mode):
    """The second is ready 1 us later: until then the first has the port alone, then each has half of it."""
    latency, bandwidth = wire()
    n = 1_000_000

    def program(rank):
        if rank.rank == 0:
            works = [post(rank, peer, n, False) for peer in (1, 2)]
            for work in works:
                work.wait()
        else:
            rank.charge("compute", "w", 1e-6 * rank.rank)
            post(rank, 0, n, True).wait()

    job = run(program, 3, **MODES[mode])
    alone = 1e-6
    first = 2e-6 + 2 * (n - alone * bandwidth) / bandwidth
    assert job.ranks[1].main.now == pytest.approx(first, rel=1e-12)
    assert job.ranks[2].main.now == pytest.approx(1e-6 + 2 * n / bandwidth, rel=1e-12)
    assert job.time == job.ranks[2].main.now + latency


@pytest.mark.parametrize("mode", MODES)
def test_messages_to_two_receivers_share_the_senders_port_those_to_one_go_one_after_the_other(mode):
    latency, bandwidth = wire()
    n = 1_000_000

    def program(rank):
        if rank.rank == 0:
            works = [post(rank, peer, n, True, tag) for peer, tag in ((1, (0, 0, 1)), (1, (0, 0, 2)), (2, (0, 0, 1)))]
        else:
            works = [post(rank, 0, n, False, (0, 0, tag)) for tag in ((1, 2) if rank.rank == 1 else (1,))]
        ends = []
        for work in works:
            work.wait()
            ends.append(rank.main.now)
        return ends

    job = run(program, 3, **MODES[mode])
    whole = n / bandwidth
    assert job.results[1] == pytest.approx([2 * whole + latency, 3 * whole + latency], rel=1e-12)
    assert job.results[2] == pytest.approx([2 * whole + latency], rel=1e-12)


def shared_link(rates, duplex="full"):
    """Pairs (0, 1), (2, 3), ... whose ways share the links ``rates`` (bytes/s) in a row; ports are never in the way."""
    device = presets.get("pc-10gbe").nodes[0].accelerators[0]
    node = Node((device,), num_nics=1, nic=Link(1e12))
    edges = [("s0", "s1", Link(rates[0], 0.0, duplex))]
    edges += [(f"s{i}", f"s{i + 1}", Link(rate, 0.0, duplex)) for i, rate in enumerate(rates) if i]
    return node, edges


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("duplex", "turned", "expected"), [
    ("full", False, [1.2, 0.9]), ("full", True, [1.0, 0.7]), ("half", True, [1.2, 0.9]),
])  # fmt: skip
def test_two_flows_on_one_link(mode, duplex, turned, expected):
    """10 GB from the start and 2 GB after half a second on 10 GB/s: the same way, and against each other."""
    node, edges = shared_link([10e9], duplex)
    sides = [("s0", "s1"), ("s1", "s0") if turned else ("s0", "s1")]
    edges += [
        (f"node{2 * i + j}/nic0", side, Link(1e12)) for i, pair in enumerate(sides) for j, side in enumerate(pair)
    ]
    sizes = [10**10, 2 * 10**9]

    def program(rank):
        pair, receives = divmod(rank.rank, 2)
        if pair:
            rank.charge("compute", "w", 0.5)
        buf = MetaArray((sizes[pair],), np.dtype("uint8"))
        peer = rank.rank ^ 1
        (rank.irecv(buf, peer, KEY, None) if receives else rank.isend(buf, peer, KEY, None)).wait()
        return rank.main.now

    job = Job(Cluster("two", (node,) * 4, edges), 4, program, **MODES[mode])
    job.run()
    assert [job.results[1], job.results[3]] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_three_flows_on_two_links(mode):
    """A on the first link, B on both, C on the second: C speeds A up, because it slows B down."""
    node, edges = shared_link([10e9, 2e9])
    for i, (a, b) in enumerate([("s0", "s1"), ("s0", "s2"), ("s1", "s2")]):
        edges += [(f"node{2 * i}/nic0", a, Link(1e12)), (f"node{2 * i + 1}/nic0", b, Link(1e12))]
    sizes = [9 * 10**9, 4 * 10**9, 10**9]

    def program(rank):
        pair, receives = divmod(rank.rank, 2)
        buf = MetaArray((sizes[pair],), np.dtype("uint8"))
        peer = rank.rank ^ 1
        (rank.irecv(buf, peer, KEY, None) if receives else rank.isend(buf, peer, KEY, None)).wait()
        return rank.main.now

    job = Job(Cluster("three", (node,) * 6, edges), 6, program, **MODES[mode])
    job.run()
    assert [job.results[1], job.results[3], job.results[5]] == pytest.approx([1.0, 2.5, 1.0], rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_the_two_directions_of_a_link_do_not_share(mode):
    latency, bandwidth = wire()
    n = 1_000_000

    def program(rank):
        receive = post(rank, 1 - rank.rank, n, False)
        post(rank, 1 - rank.rank, n, True).wait()
        receive.wait()

    assert run(program, 2, **MODES[mode]).time == n / bandwidth + latency


@pytest.mark.parametrize("mode", MODES)
def test_tags_select_and_messages_of_one_tag_keep_their_order(mode):
    def program(rank):
        if rank.rank == 0:
            works = [rank.isend(np.array([v]), 1, (0, 0, tag), None) for v, tag in ((1, 1), (0, 2), (7, 3), (8, 3))]
        else:
            bufs = [np.zeros(1, np.int64) for _ in range(4)]
            works = [rank.irecv(b, 0, (0, 0, tag), None) for b, tag in zip(bufs, (2, 1, 3, 3), strict=True)]
        for work in works:
            work.wait()
        return [int(b[0]) for b in bufs] if rank.rank else None

    assert run(program, 2, **MODES[mode]).results[1] == [0, 1, 7, 8]


def test_the_sender_may_change_its_buffer_at_once():
    def program(rank):
        buf = np.full(3, 5.0)
        if rank.rank == 0:
            work = rank.isend(buf, 1, KEY, None)
            buf[:] = -1
        else:
            work = rank.irecv(buf, 0, KEY, None)
        work.wait()
        return buf.tolist()

    assert run(program, 2).results[1] == [5, 5, 5]


def test_sizes_must_agree():
    def program(rank):
        if rank.rank == 1:
            rank.charge("compute", "late", 1e-3)
        try:
            post(rank, 1 - rank.rank, 8 + rank.rank, rank.rank == 0).wait()
        except MessageMismatchError as error:
            return str(error), rank.now()

    results = run(program, 2).results
    assert results[0] == results[1]
    assert results[0][1] == 1e-3  # when the two sides met
    assert results[0][0].startswith(
        "rank 0 sends (8,) uint8 to rank 1 with tag 0 (an unknown place), but rank 1 receives"
    )
    assert results[0][0].endswith(
        "the number of elements must be equal on both sides. Receive into an array of (8,) uint8."
    )


def test_an_eager_send_that_does_not_fit_is_told_to_the_receiver():
    def program(rank):
        if rank.rank == 1:
            rank.charge("compute", "late", 1e-3)
        work = post(rank, 1 - rank.rank, 8 + rank.rank, rank.rank == 0)
        if rank.rank == 0:
            work.wait()
            rank.charge("compute", "more", 1.0)
            return rank.now()
        with pytest.raises(MessageMismatchError, match=r"receives into \(9,\) uint8"):
            work.wait()

    assert run(program, 2, eager_limit=100).results[0] > 1.0


def test_sizes_of_a_collective_that_nobody_compares_must_agree():
    """What an unchecked run lets through is found by the messages."""

    def program(rank):
        rank.collective(call(rank, 0, np.zeros(4 + rank.rank)), async_op=False)

    with pytest.raises(
        MessageMismatchError,
        match=r"rank . sends \d+ bytes to rank . .* expects \d+ bytes: both sides must use the same",
    ):
        run(program, 2, checked=False)


@pytest.mark.parametrize("mode", MODES)
def test_two_messages_that_leave_a_node_by_one_card_share_it(mode):
    """A DGX-1 has four network cards for eight devices."""
    cluster = presets.get("dgx1-v100", num_devices=16)
    n = 10_000_000
    assert set(cluster.route(0, 8).links) & set(cluster.route(1, 10).links)
    assert not set(cluster.route(0, 8).links) & set(cluster.route(2, 10).links)

    def program(others):
        def fn(rank):
            for src, dst in ((0, 8), others):
                if rank.rank in (src, dst):
                    post(rank, dst if rank.rank == src else src, n, rank.rank == src).wait()

        return fn

    route = cluster.route(0, 8)
    assert run(program((1, 10)), 16, "dgx1-v100", **MODES[mode]).time == 2 * n / route.bandwidth + route.latency
    assert run(program((2, 10)), 16, "dgx1-v100", **MODES[mode]).time == n / route.bandwidth + route.latency
