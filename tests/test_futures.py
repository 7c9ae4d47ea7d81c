import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import DistError
from simdist.futures import Future, collect_all, wait_all


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_the_future_of_a_collective(backend):
    def program(rank, world_size):
        x = np.full(1, float(rank))
        future = dist.all_reduce(x, async_op=True).get_future()
        half = future.then(lambda f: f.value()[0] / 2)
        return half.wait().tolist(), future.done(), [v.tolist() for v in future.wait()]

    assert sd.run(program, world_size=3, backend=backend).results == [([1.5], True, [[3.0]])] * 3


def test_futures_by_hand():
    first, second, seen = Future(), Future(), []
    third = first.then(lambda f: f.value() + 1)
    first.add_done_callback(lambda f: seen.append(f.value()))
    assert not first.done()
    with pytest.raises(DistError, match="nobody will ever set"):
        third.wait()
    first, second = Future(), Future()
    third = first.then(lambda f: f.value() + 1)
    first.add_done_callback(lambda f: seen.append(f.value()))
    first.set_result(4)
    assert (seen, third.value()) == ([4], 5)
    second.set_exception(KeyError("x"))
    assert collect_all([first, second]).wait() == [first, second]
    with pytest.raises(KeyError):
        wait_all([first, second])
    with pytest.raises(DistError, match="set once"):
        first.set_result(5)
    with pytest.raises(TypeError, match="takes an exception"):
        Future().set_exception(3)
