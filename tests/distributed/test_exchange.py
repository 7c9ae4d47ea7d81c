"""Case 16, and torch's recorded values of all-to-all; simulated at every level and real."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import CollectiveMismatchError, ShapeError

WAYS = [{"backend": "sim"}, {"network": "formula"}, {"network": "steps"}, {"backend": "process"}]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("late", [False, True])
def test_uneven_and_empty_blocks(way, late):
    def program(rank, world_size):
        x = [np.array([0, 1, 2]), np.array([10, 11, 12, 13]), np.array([], np.int64)][rank]
        splits = [[1, 0, 2], [0, 3, 1], [0, 0, 0]]
        columns = [row[rank] for row in splits]
        out = np.zeros(sum(columns), np.int64)
        work = dist.all_to_all_single(out, x, columns, splits[rank], async_op=late)
        if late:
            work.wait()
        return out.tolist()

    assert sd.run(program, world_size=3, **way).results == [[0], [10, 11, 12], [1, 2, 13]]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_lists_of_any_shapes_and_rows(way):
    def program(rank, world_size):
        out = [np.zeros((rank + 1, 2)) for _ in range(world_size)]
        dist.all_to_all(out, [np.full((to + 1, 2), 10.0 * rank + to) for to in range(world_size)])
        rows = np.zeros((world_size, 2))
        dist.all_to_all_single(rows, np.arange(2.0 * world_size).reshape(world_size, 2) + 100 * rank)
        return [part.tolist() for part in out], rows.tolist()

    for rank, (parts, rows) in enumerate(sd.run(program, world_size=3, **way).results):
        assert parts == [[[10.0 * s + rank] * 2] * (rank + 1) for s in range(3)]
        assert rows == [[2 * rank + 100.0 * s, 2 * rank + 1 + 100.0 * s] for s in range(3)]


@pytest.mark.parametrize(
    ("length", "out", "given", "words"),
    [(4, None, None, "cannot be divided among 3"), (3, None, [2, 1, 1], "must add up to 3")],
)
def test_bad_splits_are_refused(length, out, given, words):
    def program(rank, world_size):
        dist.all_to_all_single(np.zeros(3), np.zeros(length), out, given)

    with pytest.raises(ShapeError, match=words):
        sd.run(program, world_size=3)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_splits_that_do_not_fit_name_the_pair(way):
    def program(rank, world_size):
        sizes = [[1, 0, 2], [0, 3, 1], [0, 0, 0]]
        columns = [[1, 0, 0], [1, 2, 0], [2, 1, 0]][rank]
        if rank == 1:
            sizes[1] = [0, 2, 2]
        x = np.zeros(sum(sizes[rank]), np.int64)
        dist.all_to_all_single(np.zeros(sum(columns), np.int64), x, columns, sizes[rank])

    with pytest.raises(CollectiveMismatchError, match=r"0->1: sent 0, expected 1|1->2: sent 2, expected 1"):
        sd.run(program, world_size=3, **way)
