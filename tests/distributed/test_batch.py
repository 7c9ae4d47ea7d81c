import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_a_ring_in_any_order(backend):
    def program(rank, world_size):
        x, right, left = np.zeros(2), (rank + 1) % world_size, (rank - 1) % world_size
        ops = [dist.P2POp(dist.isend, np.array([rank, 2.0]), right), dist.P2POp(dist.irecv, x, left)]
        works = dist.batch_isend_irecv(ops[:: 1 if rank else -1])
        for work in works:
            work.wait()
        return x.tolist(), len(works)

    assert sd.run(program, world_size=3, backend=backend).results == [([2, 2], 2), ([0, 2], 2), ([1, 2], 2)]


def test_what_is_refused():
    def program(rank, world_size):
        with pytest.raises(IndexError, match="empty"):
            dist.batch_isend_irecv([])
        with pytest.raises(ValueError, match="element 0 must be a P2POp"):
            dist.batch_isend_irecv([1])
        with pytest.raises(ValueError, match="isend or irecv, got 'broadcast'"):
            dist.P2POp(dist.broadcast, np.zeros(1), 1)
        with pytest.raises(ValueError, match="message to itself"):
            dist.batch_isend_irecv([dist.P2POp(dist.isend, np.zeros(1), rank)])
        return repr(dist.P2POp(dist.isend, np.zeros(1), 1))

    assert sd.run(program, world_size=2).results[0].startswith("P2POp(isend, rank 1, tag 0")
