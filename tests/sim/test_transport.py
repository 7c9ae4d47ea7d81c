"""The simulator's transport keeps group ranks, tags and the count of waiting apart."""

import numpy as np

from simdist.comm.call import Members
from simdist.sim.transport import GroupTransport
from tests.sim.programs import run


def test_ranks_are_those_of_the_group_and_waiting_is_counted():
    def program(rank):
        if rank.rank == 0:
            return None
        members = Members(1, (1, 2), rank.rank - 1, "pair")
        transport = GroupTransport(rank.site.network, rank.main, members, "test")
        buf = np.full(4, rank.rank, np.float64)
        if transport.rank == 0:
            rank.charge("compute", "late", 1e-3)
            transport.isend(buf, 1, (1, 1, 0)).wait()
        else:
            transport.irecv(buf, 0, (1, 1, 0), np.add).wait()
        return buf.tolist(), transport.waited, transport.size

    job = run(program, 3)
    assert job.results == [None, ([1] * 4, 0.0, 2), ([3] * 4, 1e-3, 2)]
    assert [flow[:2] for flow in job.messages()] == [(1, 2)]
