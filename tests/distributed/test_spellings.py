import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist


@pytest.mark.parametrize("old", [True, False])
def test_they_do_what_the_usual_ones_do(old):
    gather = dist._all_gather_base if old else dist.all_gather_single
    scatter = dist._reduce_scatter_base if old else dist.reduce_scatter_single

    def program(rank, world_size):
        out, part = np.zeros(4), np.zeros(2)
        gather(out, np.array([rank, 10.0 * rank]))
        scatter(part, out + rank, dist.ReduceOp.MAX, async_op=True).wait()
        return out.tolist(), part.tolist()

    assert sd.run(program, world_size=2).results == [([0, 0, 1, 10], [1, 1]), ([0, 0, 1, 10], [2, 11])]
