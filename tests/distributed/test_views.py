"""Strided inputs, results written through views, lists whose arrays are views or the same array: on every backend and level.

The shapes are those of reports in which values moved: a column, a transpose, rows without the first, every other column.
"""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist


def test_a_column_is_gathered_and_not_the_first_elements_of_the_memory(where):
    def program(rank, world_size):
        column = (np.array([[0, 0], [1, 1]]) + 10 * rank)[:, 0]
        out = [np.zeros(2, int) for _ in range(2)] if rank == 0 else None
        dist.gather(column, out, dst=0)
        return out and [x.tolist() for x in out]

    assert sd.run(program, world_size=2, **where).results == [[[0, 1], [10, 11]], None]


VIEWS = {
    "transpose": (lambda b: b.T, [[[10, 12, 14], [16, 18, 20]]] * 2),
    "rows": (lambda b: b[1:], [[[0, 1, 2], [16, 18, 20]], [[10, 11, 12], [16, 18, 20]]]),
    "columns": (lambda b: b[:, ::2], [[[10, 1, 14], [16, 4, 20]], [[10, 11, 14], [16, 14, 20]]]),
}


@pytest.mark.parametrize("wrapped", [False, True], ids=["array", "tensor"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("async_op", [False, True])
def test_a_sum_goes_through_the_view_and_nowhere_else(view, async_op, wrapped, where):
    take, wanted = VIEWS[view]

    def program(rank, world_size):
        base = np.arange(6).reshape(2, 3) + 10 * rank
        if wrapped:
            tensor = sd.tensor(base)
            base, part = tensor.data, take(tensor)
        else:
            part = take(base)
        work = dist.all_reduce(part, async_op=async_op)
        if async_op:
            lent = np.zeros((2, 3), bool)
            take(lent)[...] = True  # what belongs to the operation holds no number, the rest is untouched
            assert (base == np.where(lent, np.iinfo(base.dtype).min, np.arange(6).reshape(2, 3) + 10 * rank)).all()
            work.wait()
        return base.tolist()

    assert sd.run(program, world_size=2, **where).results == wanted


def test_outputs_may_be_the_parts_of_one_array(where):
    def program(rank, world_size):
        whole = np.full(4, -1.0)
        dist.all_gather([whole[:2], whole[2:]], np.array([rank, rank + 0.5]))
        return whole.tolist()

    assert sd.run(program, world_size=2, **where).results == [[0, 0.5, 1, 1.5]] * 2


def test_a_transpose_is_gathered_in_its_own_order(where):
    def program(rank, world_size):
        out = np.zeros((4, 2), int)
        dist.all_gather_into_tensor(out, (np.arange(4).reshape(2, 2) + 10 * rank).T)
        return out.tolist()

    assert sd.run(program, world_size=2, **where).results == [[[0, 2], [1, 3], [10, 12], [11, 13]]] * 2


def test_a_transpose_is_broadcast_into_a_transpose(where):
    def program(rank, world_size):
        base = np.arange(6).reshape(3, 2) + 100 * rank
        dist.broadcast(base.T, src=0)
        return base.T.tolist()

    assert sd.run(program, world_size=2, **where).results == [[[0, 2, 4], [1, 3, 5]]] * 2


def test_the_same_array_twice_in_a_list_of_outputs_is_refused(where):
    def program(rank, world_size):
        out = np.zeros(1)
        for call in (
            lambda: dist.all_gather([out, out], np.array([float(rank)])),
            lambda: dist.gather(out.copy(), [out, out], dst=rank),
            lambda: dist.all_to_all([out, out], [np.ones(1), np.ones(1)]),
        ):
            with pytest.raises(ValueError, match=r"\[0\] and \[1\] share memory: one result would overwrite the other"):
                call()
        return out.tolist()

    assert sd.run(program, world_size=2, **where).results == [[0.0]] * 2


def test_messages_and_scatters_through_views(where):
    def program(rank, world_size):
        base = np.arange(6.0).reshape(2, 3) + 10 * rank
        if rank == 0:
            dist.send(base[:, 1], 1)
        else:
            dist.recv(base[:, ::2][0], 0)
        column = np.zeros((2, 2))
        dist.scatter(column[:, 1], [base.T[0], base.T[2]] if rank == 0 else None, src=0)
        part = np.zeros((2, 2))
        dist.reduce_scatter_tensor(part.T, np.asfortranarray(np.arange(8.0).reshape(4, 2)))
        return base.tolist(), column.tolist(), part.tolist()

    results = sd.run(program, world_size=2, **where).results
    assert results[0] == ([[0, 1, 2], [3, 4, 5]], [[0, 0], [0, 3]], [[0, 4], [2, 6]])
    assert results[1] == ([[1, 11, 4], [13, 14, 15]], [[0, 2], [0, 5]], [[8, 12], [10, 14]])
