"""Reductions beyond the common round (test_collectives): many sizes, every root, integers, bits equal on all ranks."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist


@pytest.mark.parametrize("world_size", [1, 2, 3, 7, 16])
def test_all_ranks_end_with_the_same_bits(world_size):
    def program(rank, world_size):
        out = []
        for n in (0, 1, world_size - 1, world_size, world_size + 1, 500):
            x = np.random.default_rng([rank, n]).standard_normal(n).astype(np.float32)
            dist.all_reduce(x)
            out.append(x)
        return out

    results = sd.run(program, world_size=world_size).results
    for got in results:
        assert [x.tobytes() for x in got] == [x.tobytes() for x in results[0]]


def test_every_root_and_what_the_others_keep():
    def program(rank, world_size):
        out = []
        for root in range(world_size):
            x = np.full(3, rank + 1)
            dist.reduce(x, dst=root)
            out.append(x.tolist())
        return out

    for rank, got in enumerate(sd.run(program, world_size=3).results):
        assert got == [[6] * 3 if root == rank else [rank + 1] * 3 for root in range(3)]


def test_integers_wrap_and_booleans_combine_as_numpy_does():
    def program(rank, world_size):
        small, flags = np.full(2, 200, np.uint8), np.array([rank == 0, False])
        dist.all_reduce(small)
        dist.all_reduce(flags, op=dist.ReduceOp.MAX)
        return small.tolist(), flags.tolist()

    assert sd.run(program, world_size=2).results == [([144, 144], [True, False])] * 2


def test_reduce_scatter_leaves_its_input_alone():
    def program(rank, world_size):
        x, y = np.arange(4.0), np.zeros(2)
        dist.reduce_scatter_tensor(y, x)
        return x.tolist(), y.tolist()

    assert sd.run(program, world_size=2).results == [([0, 1, 2, 3], [0, 2]), ([0, 1, 2, 3], [4, 6])]


def test_wire_bytes_of_a_ring():
    def program(rank, world_size):
        dist.all_reduce(np.zeros(8 * 100, np.float32))

    run = sd.run(program, world_size=8)
    assert [run.trace.bytes_sent(r) for r in range(8)] == [2 * 7 * 400] * 8
    assert [run.trace.messages_sent(r) for r in range(8)] == [14] * 8
