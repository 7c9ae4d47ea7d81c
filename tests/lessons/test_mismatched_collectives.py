"""Ranks that disagree on the collective, the shape, the dtype, the root, or the order: an error on every rank, in every way."""

import re

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.errors import CollectiveMismatchError, DeadlockError, DistTimeoutError
from tests.lessons.ways import every_way, lines, run

HERE = "test_mismatched_collectives.py"


def kind(rank):
    x = np.ones(4, np.float32)
    if rank == 0:
        dist.all_reduce(x)
    else:
        dist.broadcast(x, src=0)


def shape(rank):
    dist.all_reduce(np.ones(4 + rank % 2, np.float32))


def dtype(rank):
    dist.all_reduce(np.ones(4, (np.float32, np.float64)[rank % 2]))


def reduction(rank):
    dist.all_reduce(np.ones(4), op=(dist.ReduceOp.SUM, dist.ReduceOp.MAX)[rank % 2])


def root(rank):
    dist.broadcast(np.ones(4), src=rank % 2)


def order(rank):
    a, b = np.ones(4), np.ones(8)
    works = [dist.all_reduce(x, async_op=True) for x in ((a, b) if rank == 0 else (b, a))]
    for work in works:
        work.wait()


def waiting(rank):
    """Nobody sends anything: both sides wait for the other."""
    x = np.ones(4)
    if rank == 0:
        dist.gather(x, [x.copy() for _ in range(dist.get_world_size())], dst=0)
    else:
        dist.broadcast(x, src=0)


def group(rank):
    half = dist.new_group([0, 1])
    if rank < 2:
        dist.all_reduce(np.ones(4 + rank), group=half)
    else:
        raise CollectiveMismatchError("not a member: collective 0 of group 'group 1' " + " ".join([f"{HERE}:1"] * 2))


def one_group_more(rank):
    if rank == 0:
        dist.new_group([0, 1])
    dist.barrier()


def splits(rank):
    size = dist.get_world_size()
    rows = [1 + (rank == 1), *[1] * (size - 1)]
    dist.all_to_all_single(np.zeros(sum(rows)), np.ones(size), rows, [1] * size)


CALLS = {
    kind: ("all_reduce of (4,) float32, SUM", "broadcast of (4,) float32, root 0"),
    shape: ("all_reduce of (4,) float32, SUM", "all_reduce of (5,) float32, SUM"),
    dtype: ("all_reduce of (4,) float32, SUM", "all_reduce of (4,) float64, SUM"),
    reduction: ("all_reduce of (4,) float64, SUM", "all_reduce of (4,) float64, MAX"),
    root: ("broadcast of (4,) float64, root 0", "broadcast of (4,) float64, root 1"),
    order: ("all_reduce of (4,) float64, SUM", "all_reduce of (8,) float64, SUM"),
    waiting: ("gather of (4,) float64, root 0", "broadcast of (4,) float64, root 0"),
    group: (),
    one_group_more: ("new_group([0, 1])", "barrier"),
    splits: ("0->1: sent 1, expected 2 elements",),
}


@every_way
@pytest.mark.parametrize("world_size", [2, 4])
@pytest.mark.parametrize("program", CALLS)
def test_every_rank_is_told_both_sides(program, world_size, way):
    def train(rank, world_size):
        with pytest.raises(CollectiveMismatchError) as found:
            program(rank)
        after = np.ones(3)
        dist.all_reduce(after)  # nothing of the failed one is left in the next one
        return str(found.value), after.tolist()

    for text, after in run(train, way, world_size):
        assert "collective 0 of group" in text
        assert len(lines(text, HERE)) == 2
        for part in CALLS[program]:
            assert part in text
        assert after == [world_size] * 3


@every_way
def test_a_cycle_across_groups(way):
    def train(rank, world_size):
        a, b = dist.new_group([0, 1]), dist.new_group([0, 1])
        for each in (a, b) if rank == 0 else (b, a):
            dist.all_reduce(np.ones(4), group=each)

    with pytest.raises(DistTimeoutError if way == "process" else DeadlockError) as found:
        run(train, way)
    text = str(found.value)
    first, second = [re.escape(f"all_reduce #0 of group 'group {number}'") for number in (1, 2)]
    assert re.search(rf"rank 0 .*waits (in|for) {first}.*{HERE}:\d+", text)
    assert re.search(rf"rank 1 .*waits (in|for) {second}.*{HERE}:\d+", text)
    assert "The cycle: 0 -> 1 -> 0." in text
    assert "in one common order" in text


@every_way
def test_asynchronous_calls_in_crossed_order_complete(way):
    def train(rank, world_size):
        a, b = dist.new_group([0, 1]), dist.new_group([0, 1])
        x, y = np.ones(4), np.full(4, 2.0)
        pairs = [(x, a), (y, b)] if rank == 0 else [(y, b), (x, a)]
        works = [dist.all_reduce(array, group=each, async_op=True) for array, each in pairs]
        for work in works:
            work.wait()
        return x.tolist(), y.tolist()

    assert run(train, way) == [([2.0] * 4, [4.0] * 4)] * 2


@every_way
@pytest.mark.parametrize("world_size", [2, 4])
def test_a_rank_that_has_returned_is_named_with_the_number_of_the_collective(way, world_size):
    def train(rank, world_size):
        dist.barrier()
        if rank == 0:
            dist.barrier()

    with pytest.raises(DeadlockError) as found:
        run(train, way, world_size)
    text = str(found.value)
    assert re.search(rf"barrier #1 of group 'world'.*{HERE}:\d+", text.replace("\n", " "))
    assert re.search(r"rank 1(, 2, 3)? ha(s|ve) returned", text)
    assert "rank 0" in text
