import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import ShapeError
from simdist.tensor import MetaArray


def test_many_arrays_in_one_collective(where):
    def program(rank, world_size):
        base = np.zeros((3, 4)) + rank
        tensors = [np.full(1, rank + 1.0), base[:, ::2], np.zeros((0, 2)), np.array(float(rank))]
        assert dist.all_reduce_coalesced(tensors) is None
        outputs = [[np.zeros(2, int), np.zeros((), int)] for _ in range(world_size)]
        work = dist.all_gather_coalesced(outputs, [np.array([rank, 1]), np.array(7 * rank)], async_op=True)
        before = outputs[1][0].tolist()
        work.wait()
        gathered = [[part.tolist() for part in row] for row in outputs]
        return [x.tolist() for x in tensors], base[0].tolist(), before, gathered, len(work.result())

    total = [[6.0], [[3.0, 3.0]] * 3, [], 3.0]
    gathered = [[[r, 1], 7 * r] for r in range(3)]
    results = sd.run(program, world_size=3, **where).results
    assert results == [(total, [3.0, r, 3.0, r], [0, 0], gathered, 6) for r in range(3)]


def test_it_is_one_message_after_another_no_more():
    def program(rank, world_size):
        dist.all_reduce_coalesced([np.ones(8), np.ones(8)])

    def single(rank, world_size):
        dist.all_reduce(np.ones(16))

    run, alone = (sd.run(fn, world_size=4, cluster="dgx-a100") for fn in (program, single))
    assert run.time == alone.time
    assert any(span.name == "all_reduce_coalesced #0" for span in run.trace)


def test_lists_that_do_not_fit():
    x = np.zeros(2)

    def program(rank, world_size):
        for call, error, text in (
            (lambda: dist.all_reduce_coalesced([]), ShapeError, "one dtype, and there is none"),
            (lambda: dist.all_reduce_coalesced([x, x.astype(int)]), ShapeError, "one dtype, found float64, int64"),
            (lambda: dist.all_reduce_coalesced([x, x[1:]]), ValueError, r"tensors\[0\] and \[1\] share memory"),
            (
                lambda: dist.all_gather_coalesced([[x]], [x]),
                ShapeError,
                r"a list for each of the 2 ranks.*\(2,\) float64",
            ),
            (lambda: dist.all_gather_coalesced([[x], []], [x]), ShapeError, "with arrays as in input_tensor_list"),
        ):
            with pytest.raises(error, match=text):
                call()

    sd.run(program, world_size=2)


def test_shapes_only_and_strangers():
    def program(rank, world_size):
        group = dist.new_group([0])
        x = MetaArray((4,), np.dtype("float32"))
        dist.all_reduce_coalesced([x, x])
        dist.all_gather_coalesced([[x], [x]], [x])
        if rank:
            with pytest.warns(UserWarning, match="no member"):
                assert dist.all_reduce_coalesced([x], group=group) is None
            with pytest.warns(UserWarning, match="no member"):
                assert dist.all_gather_coalesced([[x]], [x], group=group) is None

    assert sd.run(program, world_size=2, device="meta").time > 0
