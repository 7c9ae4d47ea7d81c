"""Ranks that are threads: the same numbers as in simulation, and what happens when one fails."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist import nn, optim
from simdist.backends.custom import launcher
from simdist.errors import ClusterError, DistTimeoutError, RankFailedError
from simdist.nn.parallel import DistributedDataParallel as DDP


def train(rank, world_size):
    model = DDP(nn.MLP([64, 32, 10]))
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    for x, y in sd.data.digits(batch_size=32, rank=rank, world_size=world_size, steps=3):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item(), [p.data.tobytes() for p in model.parameters()]


@pytest.mark.parametrize("world_size", [1, 3])
def test_training_gives_the_same_bytes_as_in_simulation(mine, world_size):
    real, simulated = (sd.run(train, world_size=world_size, backend=backend) for backend in (mine, "sim"))
    assert real.results == simulated.results
    assert real.backend == "mine"
    assert any(span.kind == "communication" for span in real.trace.spans())


def test_nothing_is_left(mine):
    before = threading.active_count()
    sd.run(train, world_size=3, backend=mine)
    assert threading.active_count() == before


def test_each_rank_has_its_own_copy(mine):
    shared = [0]

    def add(rank, world_size):
        shared[0] += 1
        return shared[0]

    assert sd.run(add, world_size=3, backend=mine).results == [1, 1, 1]
    assert shared == [0]


def test_what_cannot_be_copied_is_shared_and_the_run_says_so(mine):
    lock = threading.Lock()

    def look(rank, world_size):
        return lock.locked()

    run = sd.run(look, world_size=2, backend=mine)
    assert run.results == [False, False]
    assert any("all ranks share one copy of the function and its arguments" in note for note in run.notes)


def test_lines_carry_the_rank(mine, capsys):
    sd.run(lambda rank, world_size: print("here"), world_size=2, backend=mine)
    assert sorted(capsys.readouterr().out.splitlines()) == ["[rank 0] here", "[rank 1] here"]


def test_what_a_rank_raises_arrives_and_stops_a_rank_that_computes(mine):
    def fail(rank, world_size):
        if rank == 1:
            raise LookupError("no luck")
        while True:
            rank += 1

    before = threading.active_count()
    with pytest.raises(LookupError, match="no luck") as caught:
        sd.run(fail, world_size=2, backend=mine)
    assert caught.value.__notes__[0].startswith("raised on rank 1 (thread) at ")
    assert isinstance(caught.value.__cause__, RankFailedError)
    assert threading.active_count() == before


def test_ranks_that_wait_are_listed(mine):
    def deadlock(rank, world_size):
        if rank == 0:
            dist.recv(np.ones(3), src=1)
        dist.barrier()

    with pytest.raises(DistTimeoutError) as caught:
        sd.run(deadlock, world_size=3, backend=mine, timeout=0.3)
    text = str(caught.value)
    assert "rank 0 waits for recv at test_launcher.py:" in text
    assert "rank 2 waits for barrier #0 of group 'world' at test_launcher.py:" in text


def test_work_under_way_ends_with_the_rank(mine):
    def fail(rank, world_size):
        work = dist.all_reduce(np.ones(3), async_op=True) if rank else None
        if rank == 0:
            raise LookupError("no luck")
        work.wait()

    before = threading.active_count()
    with pytest.raises(LookupError):
        sd.run(fail, world_size=3, backend=mine)
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)  # the thread of the collective may be on its way out
    assert threading.active_count() == before


def test_a_rank_in_compiled_code_is_left_alone_after_a_while(mine, monkeypatch):
    monkeypatch.setattr(launcher, "GRACE_SECONDS", 0.3)

    def stuck(rank, world_size):
        if rank == 0:
            raise LookupError("no luck")
        time.sleep(1.5)

    with pytest.raises(LookupError) as caught:
        sd.run(stuck, world_size=2, backend=mine)
    assert any("rank 1 did not stop within 0.3 s after this" in note for note in caught.value.__notes__)
    time.sleep(1.5)


def test_simulated_machines_are_refused(mine):
    with pytest.raises(ClusterError, match="on backend='mine' machines are as fast as they are"):
        sd.run(train, world_size=1, backend=mine, jitter=0.1)


def test_ends_are_closed(queues, register):
    closed = []

    def factory(size):
        made = queues(size)
        for end in made:
            end.close = lambda rank=end.rank: closed.append(rank)
        return made

    register(factory)
    sd.run(lambda rank, world_size: None, world_size=2, backend="mine")
    assert closed == [0, 1]
