"""A receive from any rank takes the earliest message by the clock, whatever order ranks are run in."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import DeadlockError


@pytest.mark.parametrize("strict", [False, True])
def test_the_earliest_message_is_taken(strict):
    def program(rank, world_size):
        if rank:
            sd.sleep(1e-3 * (world_size - rank))
            dist.send(np.array([rank]), dst=0)
            return None
        got = []
        for _ in range(world_size - 1):
            x = np.zeros(1, np.int64)
            got.append((dist.recv(x), int(x[0])))
        return got

    assert sd.run(program, world_size=4, strict=strict).results[0] == [(3, 3), (2, 2), (1, 1)]


def test_a_receiver_that_comes_late_still_takes_the_earliest():
    def program(rank, world_size):
        if rank:
            sd.sleep(1e-3 if rank == 1 else 1e-4)
            dist.isend(np.array([rank]), dst=0).wait()
            return None
        sd.sleep(1.0)
        return [dist.recv(np.zeros(1, np.int64)) for _ in range(2)]

    assert sd.run(program, world_size=3).results[0] == [2, 1]


def test_nobody_sends():
    def program(rank, world_size):
        if rank == 0:
            dist.recv(np.zeros(1))

    with pytest.raises(DeadlockError, match=r"recv from any rank \(needs rank 1, 2\)"):
        sd.run(program, world_size=3)
