"""When messages arrive, worked out by hand on the clusters' own numbers."""

import numpy as np
import pytest

from simdist.cluster import presets
from simdist.errors import MessageMismatchError
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
def test_two_senders_to_one_receiver_share_its_port_one_after_the_other(mode):
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
    first = 1e-6 + n / bandwidth
    assert job.ranks[1].main.now == first
    assert job.ranks[2].main.now == first + n / bandwidth
    assert job.time == first + n / bandwidth + latency


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


def test_all_messages_of_a_shared_uplink_go_one_after_the_other():
    """Two pairs of devices on two nodes whose cards are shared: DGX-1 has four cards for eight devices."""
    cluster = presets.get("dgx1-v100", num_devices=16)
    shared = [(a, b) for a in range(8) for b in range(a + 1, 8) if cluster.route(a, 8 + a).links[-2:] and
              set(cluster.route(a, 8).links) & set(cluster.route(b, 9).links)]  # fmt: skip
    a, b = shared[0]
    n = 10_000_000

    def program(rank):
        for src, dst in ((a, 8), (b, 9)):
            if rank.rank in (src, dst):
                post(rank, dst if rank.rank == src else src, n, rank.rank == src).wait()

    both = run(program, 16, "dgx1-v100").time
    route = cluster.route(a, 8)
    assert both >= 2 * n / route.bandwidth
