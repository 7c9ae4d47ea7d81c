"""Case 22: rendezvous, tags, order, self-sends; simulated and real."""

import re

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import DeadlockError, DistTimeoutError, MessageMismatchError

BACKENDS = ["sim", "process"]


def run(fn, world_size=2, backend="sim", **options):
    return sd.run(fn, world_size=world_size, backend=backend, cluster="dgx-a100", **options).results


def send_first(rank, world_size, n=4):
    x = np.full(n, rank, np.uint8)
    dist.send(x, dst=1 - rank)
    dist.recv(x, src=1 - rank)
    return x


def test_both_send_first_is_a_deadlock_with_its_cycle():
    with pytest.raises(DeadlockError, match=r"The cycle: 0 -> 1 -> 0") as found:
        run(send_first)
    assert re.search(r"send to rank 1 \(needs rank 1\), test_point_to_point.py:\d+", str(found.value))


def test_both_send_first_on_real_processes_is_a_time_out_that_says_who_waits():
    with pytest.raises(DistTimeoutError, match=r"send") as found:
        run(send_first, backend="process", timeout=1.0)
    assert "rank 0" in str(found.value)
    assert "rank 1" in str(found.value)


def test_an_eager_limit_lets_small_messages_through():
    limit = 64 * 1024
    assert sd.run(send_first, limit, world_size=2, eager_limit=limit).results[0][0] == 1
    with pytest.raises(DeadlockError):
        sd.run(send_first, limit + 1, world_size=2, eager_limit=limit)


@pytest.mark.parametrize("backend", BACKENDS)
def test_isend_irecv_exchange(backend):
    def program(rank, world_size):
        x, y = np.full(3, rank), np.zeros(3, np.int64)
        works = [dist.isend(x, dst=1 - rank), dist.irecv(y, src=1 - rank)]
        for work in works:
            work.wait()
        return y.tolist()

    assert run(program, backend=backend) == [[1] * 3, [0] * 3]


@pytest.mark.parametrize("backend", BACKENDS)
def test_tags_and_order(backend):
    def program(rank, world_size):
        if rank == 0:
            works = [dist.isend(np.ones(2), dst=1, tag=1), dist.isend(np.zeros(2), dst=1, tag=2)]
            works += [dist.isend(np.array([float(v)]), dst=1, tag=3) for v in (1, 2)]
            for work in works:
                work.wait()
            return None
        two, one, first, second = np.full(2, 5.0), np.full(2, 5.0), np.zeros(1), np.zeros(1)
        works = [dist.irecv(two, src=0, tag=2), dist.irecv(one, src=0, tag=1)]
        works += [dist.irecv(first, src=0, tag=3), dist.irecv(second, src=0, tag=3)]
        for work in works:
            work.wait()
        return one.tolist(), two.tolist(), float(first[0]), float(second[0])

    assert run(program, backend=backend)[1] == ([1, 1], [0, 0], 1.0, 2.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_recv_returns_the_source_and_groups_have_their_own_tags(backend):
    def program(rank, world_size):
        group = dist.new_group([0, 1])
        if rank == 0:
            works = [dist.isend(np.array([1]), dst=1), dist.isend(np.array([2]), group_dst=1, group=group)]
            return [work.wait() for work in works]
        x, y = np.zeros(1, np.int64), np.zeros(1, np.int64)
        sources = [dist.recv(y, group_src=0, group=group), dist.recv(x, src=0)]
        return sources, int(x[0]), int(y[0])

    assert run(program, backend=backend)[1] == ([0, 0], 1, 2)


def one_f_one_b(rank, world_size, combined):
    """A pipeline of two stages and two microbatches; activations of 0 and 1 go right, gradients left."""
    a = np.zeros(8)
    if rank == 0:
        dist.send(a, dst=1)
        if combined:
            works = [dist.isend(a, dst=1), dist.irecv(a.copy(), src=1)]
            for work in works:
                work.wait()
        else:
            dist.send(a, dst=1)
            dist.recv(a, src=1)
        dist.recv(a, src=1)
    else:
        dist.recv(a, src=0)
        if combined:
            works = [dist.isend(a, dst=0), dist.irecv(a.copy(), src=0)]
            for work in works:
                work.wait()
        else:
            dist.send(a, dst=0)
            dist.recv(a, src=0)
        dist.send(a, dst=0)


def test_one_forward_one_backward_with_blocking_sends():
    with pytest.raises(DeadlockError, match="The cycle: 0 -> 1 -> 0"):
        sd.run(one_f_one_b, False, world_size=2)
    sd.run(one_f_one_b, True, world_size=2)


def test_a_view_is_received_through():
    def program(rank, world_size):
        base = np.zeros((2, 3))
        if rank == 0:
            dist.send(np.array([1.0, 2.0]), dst=1)
        else:
            dist.recv(base[:, 1], src=0)
        return base

    np.testing.assert_array_equal(run(program)[1], [[0, 1, 0], [0, 2, 0]])


def exchange(rank, world_size, sent, wanted):
    """Rank 0 sends, rank 1 receives; returns the error's text, or what was received."""
    try:
        if rank == 0:
            dist.send(sent, dst=1, tag=3)
        else:
            dist.recv(wanted, src=0, tag=3)
    except MessageMismatchError as error:
        return str(error)
    return wanted


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("size", [4, 50_000])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", ">f4"])
def test_another_dtype_is_refused_on_both_sides_of_both_backends(dtype, size, checked):
    arrays = np.ones(size, np.float32), np.zeros(size, dtype)
    texts = [
        text
        for backend in BACKENDS
        for text in sd.run(exchange, *arrays, world_size=2, backend=backend, checked=checked).results
    ]
    assert len(texts) == 4
    assert len(dict.fromkeys(texts)) == 1
    assert re.fullmatch(
        rf"rank 0 sends \({size},\) float32 to rank 1 with tag 3 \(test_point_to_point.py:\d+\), but rank 1 receives into "
        rf"\({size},\) {dtype} \(test_point_to_point.py:\d+\): the dtype must be equal on both sides. Receive into an array of "
        rf"\({size},\) float32, or convert before sending.",
        texts[0],
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_another_shape_is_taken_if_the_number_of_elements_is_equal(backend):
    arrays = np.arange(4.0), np.zeros((2, 2)).T
    assert run(lambda rank, n: exchange(rank, n, *arrays), backend=backend)[1].tolist() == [[0, 1], [2, 3]]
    text = run(lambda rank, n: exchange(rank, n, np.arange(4.0), np.zeros((2, 3))), backend=backend)
    assert text[0] == text[1]
    assert "rank 0 sends (4,) float64 to rank 1 with tag 3" in text[0]
    assert "rank 1 receives into (2, 3) float64" in text[0]
    assert text[0].endswith(
        "the number of elements must be equal on both sides. Receive into an array of (4,) float64."
    )
