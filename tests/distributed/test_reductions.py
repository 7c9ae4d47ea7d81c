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


@pytest.mark.parametrize("op", ["SUM", "AVG", "MAX"])
def test_parts_of_a_reduce_scatter_may_differ_in_size(op, where):
    sizes = [2, 1, 0, 3]

    def program(rank, world_size):
        output = np.zeros((sizes[rank], 2))
        inputs = [np.arange(2.0 * n).reshape(n, 2) + 10 * rank + i for i, n in enumerate(sizes)]
        dist.reduce_scatter(output, inputs, getattr(dist.ReduceOp, op))
        return output.tolist()

    add = {"SUM": 60, "AVG": 15, "MAX": 30}[op]
    times = {"SUM": 4}.get(op, 1)
    wanted = [(times * (np.arange(2.0 * n).reshape(n, 2) + i) + add).tolist() for i, n in enumerate(sizes)]
    assert sd.run(program, world_size=4, **where).results == wanted


def test_parts_of_different_sizes_take_the_time_of_the_largest():
    def program(rank, world_size, sizes):
        dist.reduce_scatter(np.zeros(sizes[rank]), [np.zeros(n) for n in sizes])

    uneven = (1000, 2000, 3000)  # a third of the sum begins the list of neither
    times = {
        network: sd.run(program, uneven, world_size=3, network=network, cluster="dgx-a100").time
        for network in ("messages", "steps")
    }
    even = sd.run(program, (2000, 2000, 2000), world_size=3, network="messages", cluster="dgx-a100").time
    assert times["steps"] == pytest.approx(times["messages"], rel=1e-12)
    assert times["messages"] > even
    shuffled = sd.run(program, (2000, 1000, 3000), world_size=3, network="messages", cluster="dgx-a100").time
    assert shuffled > even


def test_sizes_that_ranks_do_not_agree_on_are_told():
    def program(rank, world_size):
        sizes = (1, 2) if rank else (1, 3)
        dist.reduce_scatter(np.zeros(sizes[rank]), [np.zeros(n) for n in sizes])

    with pytest.raises(dist.DistError, match=r"reduce_scatter of \(1, 2\).*rank 0 called reduce_scatter of \(1, 3\)"):
        sd.run(program, world_size=2)


def test_the_own_part_has_the_shape_of_output():
    def program(rank, world_size):
        with pytest.raises(ValueError, match=r"input_list\[0\] is \(3,\) float64, expected \(2,\) float64, as output"):
            dist.reduce_scatter(np.zeros(2), [np.zeros(3), np.zeros(2)])
        with pytest.raises(ValueError, match=r"input_list\[1\] is \(2,\) int64, expected +float64"):
            dist.reduce_scatter(np.zeros(2), [np.zeros(2), np.zeros(2, int)])

    sd.run(lambda rank, world_size: program(rank, world_size) if rank == 0 else None, world_size=2)
