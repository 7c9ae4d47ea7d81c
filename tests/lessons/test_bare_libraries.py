"""What an unchecked run lets pass, as bare libraries do: calls are matched by their order and by nothing else."""

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.errors import CollectiveMismatchError, DistError
from tests.lessons.ways import every_way, run


@every_way
@pytest.mark.parametrize("async_op", [False, True])
def test_a_swapped_pair_gives_wrong_sums_and_no_error(way, async_op):
    def train(rank, world_size):
        a, b = np.array([1.0 if rank == 0 else 2.0]), np.array([10.0 if rank == 0 else 20.0])
        for x in (a, b) if rank == 0 else (b, a):
            work = dist.all_reduce(x, async_op=async_op)
            if work is not None:
                work.wait()
        return float(a[0]), float(b[0])

    # a = 1 + 20 instead of 1 + 2, and b = 10 + 2 instead of 10 + 20; on the other rank the other way round
    assert run(train, way, checked=False) == [(21.0, 12.0), (12.0, 21.0)]


@every_way
def test_reductions_that_differ_give_a_result_nobody_asked_for(way):
    def train(rank, world_size):
        x = np.array([1.0, 2.0]) * (rank + 1)
        dist.all_reduce(x, op=(dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT)[rank])
        return x.tolist()

    results = run(train, way, checked=False)
    assert results[0] == results[1]  # each chunk is combined once, as its combiner wants it
    assert set(results[0]) <= {3.0, 6.0, 2.0, 8.0}


@every_way
def test_bytes_of_another_dtype_are_read_as_they_come(way):
    def train(rank, world_size):
        x = np.ones(2, (np.float32, np.int32)[rank])
        dist.broadcast(x, src=0)
        return x.tolist()

    assert run(train, way, checked=False) == [[1.0, 1.0], [1065353216] * 2]  # 0x3f800000, the bits of 1.0


@every_way
def test_two_roots_wait_for_each_other(way):
    def train(rank, world_size):
        dist.broadcast(np.ones(4), src=rank)

    with pytest.raises(DistError) as found:
        run(train, way, checked=False)
    assert not isinstance(found.value, CollectiveMismatchError)
    assert "The cycle: 0 -> 1 -> 0." in str(found.value)


@every_way
def test_one_new_group_too_many_passes(way):
    def train(rank, world_size):
        if rank == 0:
            dist.new_group([0])
        x = np.ones(1)
        dist.all_reduce(x)
        return float(x[0])

    assert run(train, way, checked=False) == [2.0, 2.0]


@every_way
def test_sizes_that_do_not_fit_are_an_error_of_the_message(way):
    """Bare libraries abort, hang or overwrite memory here; a message that does not fit is never cut or stretched."""

    def train(rank, world_size):
        with pytest.raises(DistError, match=r"sends \d+ bytes to rank \d"):
            dist.broadcast(np.ones(4 + rank), src=0)

    run(train, way, checked=False)
