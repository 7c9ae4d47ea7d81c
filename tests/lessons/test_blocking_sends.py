"""Rendezvous, eager messages, tags, order, a message to itself, and a pipeline that sends before it receives; in every way."""

import re
from pathlib import Path

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.errors import DeadlockError, DistTimeoutError
from tests.lessons.ways import every_way, run

HERE = "test_blocking_sends.py"
LIMIT = 64 * 1024


def stuck(way):
    """The error that ends a run in which nobody can go on: real processes notice it by their timeout."""
    return DistTimeoutError if way == "process" else DeadlockError


def waits(text, rank):
    """The line of a report on what ``rank`` waits for: a send of this file."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"  rank {rank} ")]
    assert "send" in line
    assert re.search(rf"{HERE}:\d+", line)
    return line


def both_send_first(rank, nbytes):
    x, y = np.full(nbytes, rank, np.uint8), np.full(nbytes, 9, np.uint8)
    dist.send(x, dst=1 - rank)
    dist.recv(y, src=1 - rank)
    return sorted({int(value) for value in y})


@every_way
@pytest.mark.parametrize("nbytes", [8, 200_000])
def test_both_send_first(way, nbytes):
    with pytest.raises(stuck(way)) as found:
        run(lambda rank, world_size: both_send_first(rank, nbytes), way)
    text = str(found.value)
    for rank in range(2):
        assert f"to rank {1 - rank}" in waits(text, rank)
    assert "The cycle: 0 -> 1 -> 0." in text
    assert "let one side receive first" in text


@every_way
def test_both_post_a_send_first(way):
    def train(rank, world_size):
        y = np.zeros(4)
        work = dist.isend(np.full(4, rank + 1.0), dst=1 - rank)
        dist.recv(y, src=1 - rank)
        work.wait()
        return y.tolist()

    assert run(train, way) == [[2.0] * 4, [1.0] * 4]


@every_way
def test_a_limit_of_64_kib_lets_64_kib_through_and_not_a_byte_more(way):
    assert run(lambda rank, world_size: both_send_first(rank, LIMIT), way, eager_limit=LIMIT) == [[1], [0]]
    with pytest.raises(stuck(way), match=re.compile("The cycle: 0 -> 1 -> 0.", re.DOTALL)):
        run(lambda rank, world_size: both_send_first(rank, LIMIT + 1), way, eager_limit=LIMIT)


@every_way
def test_tags_select_and_equal_tags_keep_order(way):
    def train(rank, world_size):
        one, two, first, second = (np.full(3, 9.0) for _ in range(4))
        if rank == 0:
            sent = [(np.ones(3), 1), (np.zeros(3), 2), (np.full(3, 1.0), 7), (np.full(3, 2.0), 7)]
            works = [dist.isend(x, dst=1, tag=tag) for x, tag in sent]
        else:
            works = [dist.irecv(x, src=0, tag=tag) for x, tag in ((two, 2), (one, 1), (first, 7), (second, 7))]
        for work in works:
            work.wait()
        return [x[0] for x in (one, two, first, second)]

    assert run(train, way)[1] == [1.0, 0.0, 1.0, 2.0]


@every_way
@pytest.mark.parametrize("call", [dist.send, dist.isend, dist.recv, dist.irecv])
def test_a_message_to_itself_is_refused(way, call):
    def train(rank, world_size):
        with pytest.raises(ValueError, match=rf"rank {rank}: i(send|recv)\((dst|src)={rank}\) is a message to itself"):
            call(np.ones(1), rank)

    run(train, way)


def pipeline(rank, combined):
    """Two stages, two microbatches, one forward, one backward: activations go right, gradients left."""
    act, grad = np.ones(8), np.full(8, 2.0)
    got = np.zeros(8)

    def send_and_receive():
        works = [dist.isend(act if rank == 0 else grad, dst=1 - rank), dist.irecv(got, src=1 - rank)]
        for work in works:
            work.wait()

    if rank == 0:
        dist.send(act, dst=1)  # forward 0
        if combined:
            send_and_receive()  # forward 1, backward 0
        else:
            dist.send(act, dst=1)  # forward 1
            dist.recv(got, src=1)  # backward 0
        dist.recv(got, src=1)  # backward 1
    else:
        dist.recv(got, src=0)  # forward 0
        if combined:
            send_and_receive()  # backward 0, forward 1
        else:
            dist.send(grad, dst=0)  # backward 0
            dist.recv(got, src=0)  # forward 1
        dist.send(grad, dst=0)  # backward 1
    return float(got[0])


@every_way
def test_one_forward_one_backward(way):
    with pytest.raises(stuck(way)) as found:
        run(lambda rank, world_size: pipeline(rank, combined=False), way)
    text = str(found.value)
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    for rank, what in ((0, "# forward 1"), (1, "# backward 0")):
        (number,) = [n for n, line in enumerate(source, 1) if line.endswith(what) and "dist.send(" in line]
        assert f"{HERE}:{number}" in waits(text, rank)
    assert "The cycle: 0 -> 1 -> 0." in text
    assert run(lambda rank, world_size: pipeline(rank, combined=True), way) == [2.0, 1.0]
