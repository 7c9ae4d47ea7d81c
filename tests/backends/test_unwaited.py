"""Forgotten works are told in the same words on every backend."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.backends.unwaited import remarks


def test_the_words():
    assert remarks(3, []) == []
    text = "rank 3 never waited for all_reduce #0{}: the result was not delivered. Call work.wait()."
    assert remarks(3, ["all_reduce #0"]) == [text.format("")]
    assert remarks(3, ["all_reduce #0", "b", "c"]) == [text.format(" and 2 more")]


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_every_kind_of_forgotten_work_is_told(backend):
    def program(rank, world_size):
        pair = dist.new_group([0, 1])
        x, y = np.ones(3), np.zeros(3)
        sd.compute(seconds=1e-3)
        waited = dist.all_reduce(x.copy(), async_op=True)
        if rank == 0:
            dist.isend(x, 1, tag=7)
            dist.irecv(y, 1, group=pair)
        else:
            seen = dist.irecv(y, 0, tag=7)
            while not seen.is_completed():  # asking until it is complete is waiting
                continue
            dist.isend(x, 0, group=pair)
            dist.all_reduce(x.copy(), async_op=True)
            dist.barrier()
            waited.wait()
            return
        dist.all_reduce(x.copy(), async_op=True).wait()
        dist.barrier()
        waited.wait()

    run = sd.run(program, world_size=2, backend=backend)
    assert run.notes == [
        "rank 0 never waited for tag 7: send to rank 1 and 1 more: the result was not delivered. Call work.wait().",
        "rank 1 never waited for tag 0 in group 1: send to rank 0 and 1 more: the result was not delivered. "
        "Call work.wait().",
    ]
