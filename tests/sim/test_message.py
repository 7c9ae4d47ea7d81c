import gc
import weakref

import numpy as np

from tests.sim.programs import run


def test_messages_leave_no_cycles():
    seen = []

    def program(rank):
        peer = 1 - rank.rank
        if rank.rank == 0:
            work = rank.isend(np.ones(1000), peer, (0, 0, 0), None)
        else:
            work = rank.irecv(np.zeros(1000), peer, (0, 0, 0), None)
        work.wait()
        if rank.rank == 1:
            seen.append(weakref.ref(work.message.__class__))
        return work.completed_at(rank.now()), work.ready <= work.done

    gc.collect()
    gc.disable()
    try:
        assert run(program, 2).results == [(True, True)] * 2
    finally:
        gc.enable()
