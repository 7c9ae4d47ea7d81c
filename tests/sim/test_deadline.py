"""A wait with a limit ends at its limit, and can be begun again."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import DistTimeoutError


def test_a_receive_gives_up_and_takes_the_message_later():
    def program(rank, world_size):
        x = np.zeros(1)
        if rank:
            sd.sleep(2.0)
            dist.send(np.ones(1), dst=0)
            return None
        work = dist.irecv(x, src=1)
        with pytest.raises(DistTimeoutError, match=r"rank 0 at 1 s: .*longer than its timeout of 1 s"):
            work.wait(1.0)
        middle = sd.current_time()
        work.wait(5.0)
        return middle, float(x[0]), sd.current_time() > 2.0

    assert sd.run(program, world_size=2).results[0] == (1.0, 1.0, True)


def test_a_collective_on_a_stream_gives_up():
    def program(rank, world_size):
        if rank:
            sd.sleep(3.0)
        x = np.full(1, float(rank))
        work = dist.all_reduce(x, async_op=True)
        if rank == 0:
            with pytest.raises(DistTimeoutError, match="rank 0 at 1 s: all_reduce #0"):
                work.wait(1.0)
        work.wait()
        return float(x[0])

    run = sd.run(program, world_size=2)
    assert run.results == [1.0, 1.0]
    assert run.time > 3.0
