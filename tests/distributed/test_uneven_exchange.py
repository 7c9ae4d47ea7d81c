"""All-to-all in which some ranks send nothing, some get nothing, and one has no input at all, as experts are given tokens."""

from itertools import pairwise

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import CollectiveMismatchError

INPUTS = [[0, 1, 2], [10, 11, 12, 13], []]
SENT = [[1, 0, 2], [0, 3, 1], [0, 0, 0]]
GOT = [[1, 0, 0], [0, 3, 0], [2, 1, 0]]


@pytest.mark.parametrize("async_op", [False, True])
@pytest.mark.parametrize("columns", [None, 2])
def test_the_sender_says_how_much(async_op, columns, where):
    def rows(values):
        flat = np.array(values, dtype=np.float64)
        return flat if columns is None else np.repeat(flat[:, None], columns, axis=1)

    def program(rank, world_size):
        output = rows([-1] * sum(GOT[rank]))
        work = dist.all_to_all_single(output, rows(INPUTS[rank]), GOT[rank], SENT[rank], async_op=async_op)
        if async_op:
            work.wait()
        return output.tolist()

    wanted = [rows([0]).tolist(), rows([10, 11, 12]).tolist(), rows([1, 2, 13]).tolist()]
    assert sd.run(program, world_size=3, **where).results == wanted


def test_lists_of_blocks_of_any_size_say_the_same(where):
    def program(rank, world_size):
        ends = np.cumsum([0, *SENT[rank]])
        blocks = [np.array(INPUTS[rank][a:b], dtype=float) for a, b in pairwise(ends)]
        outputs = [np.full(n, -1.0) for n in GOT[rank]]
        dist.all_to_all(outputs, blocks)
        return [x.tolist() for x in outputs]

    wanted = [[[0], [], []], [[], [10, 11, 12], []], [[1, 2], [13], []]]
    assert sd.run(program, world_size=3, **where).results == wanted


def test_what_cannot_be_divided_and_splits_that_do_not_add_up(where):
    def program(rank, world_size):
        with pytest.raises(RuntimeError, match="input has 4 rows, which cannot be divided among 3 ranks"):
            dist.all_to_all_single(np.zeros(3), np.zeros(4))
        with pytest.raises(RuntimeError, match=r"input has 3 rows, but the split sizes are \[2, 1, 1\].*add up to 3"):
            dist.all_to_all_single(np.zeros(3), np.zeros(3), [1, 1, 1], [2, 1, 1])
        with pytest.raises(RuntimeError, match=r"one for each of the 3 ranks"):
            dist.all_to_all_single(np.zeros(3), np.zeros(3), [1, 1, 1], [2, 1])
        with pytest.raises(RuntimeError, match="none negative"):
            dist.all_to_all_single(np.zeros(3), np.zeros(3), [1, 1, 1], [4, -1, 0])

    sd.run(program, world_size=3, **where)


def test_splits_that_are_not_the_transpose_name_the_pair(where):
    sent = [[1, 0, 2], [0, 2, 2], [0, 0, 0]]
    claimed = [[1, 0, 0], [1, 2, 0], [2, 2, 0]]  # rank 1 expects a row that rank 0 does not send

    def program(rank, world_size):
        dist.all_to_all_single(
            np.zeros(sum(claimed[rank])), np.array(INPUTS[rank], dtype=float), claimed[rank], sent[rank]
        )

    text = r"rank 1 at .*all_to_all_single: 0->1: sent 0, expected 1 elements \(rank 0: test_uneven_exchange\.py:\d+, rank 1: "
    with pytest.raises(CollectiveMismatchError, match=text):
        sd.run(program, world_size=3, **where)


def test_a_block_for_oneself_that_differs_names_oneself(where):
    def program(rank, world_size):
        dist.all_to_all_single(np.zeros(3), np.array(INPUTS[1][:3], dtype=float), [1, 2, 0], [0, 3, 0])

    with pytest.raises(RuntimeError, match=r"1->1 sends 3 elements, expected 2"):
        sd.run(program, world_size=3, **where)
