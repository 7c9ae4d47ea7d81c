"""A dead run is reported at once, with who, what, where and the cycle."""

import numpy as np
import pytest

from simdist.errors import DeadlockError, DistTimeoutError
from simdist.place import caller
from tests.sim.programs import call, run


def send_first(rank):
    peer = 1 - rank.rank
    rank.isend(np.ones(4), peer, (0, 0, 0), caller()).wait()
    rank.irecv(np.ones(4), peer, (0, 0, 0), caller()).wait()


def test_send_send():
    with pytest.raises(DeadlockError) as found:
        run(send_first, 2)
    text = str(found.value)
    assert "deadlock: no rank can go on" in text
    assert "rank 0 at 0 s waits in tag 0: send to rank 1 (needs rank 1), test_deadlock.py:" in text
    assert "The cycle: 0 -> 1 -> 0." in text
    assert "isend/irecv" in text


def test_a_cycle_across_groups():
    def program(rank):
        order = (1, 2) if rank.rank == 0 else (2, 1)
        for group in order:
            rank.collective(call(rank, 0, np.zeros(4), group=group), async_op=False)

    with pytest.raises(DeadlockError) as found:
        run(program, 2)
    text = str(found.value)
    assert "rank 0 at 0 s waits in all_reduce #0 of group 'group 1' (needs rank 1)" in text
    assert "rank 1 at 0 s waits in all_reduce #0 of group 'group 2' (needs rank 0)" in text
    assert "The cycle: 0 -> 1 -> 0." in text


def test_asynchronous_calls_in_the_crossed_order_complete():
    def program(rank):
        order = (1, 2) if rank.rank == 0 else (2, 1)
        works = [rank.collective(call(rank, 0, np.ones(4), group=g), async_op=True) for g in order]
        for work in works:
            work.wait()
        return "done"

    assert run(program, 2).results == ["done"] * 2


def test_a_rank_that_has_returned_is_named():
    def program(rank):
        if rank.rank == 0:
            rank.collective(call(rank, 0, np.zeros(1), collective="barrier"), async_op=False)

    with pytest.raises(DeadlockError, match=r"waits in barrier #0 of group 'world' \(needs rank 1\)") as found:
        run(program, 2)
    assert "rank 1 has returned" in str(found.value)


def test_with_an_explicit_timeout_it_is_a_time_out():
    with pytest.raises(DistTimeoutError, match=r"rank 0 at 2 ms: waited longer than its timeout of 2 ms"):
        run(send_first, 2, timeout=2e-3)


def test_a_late_partner_is_a_time_out():
    def program(rank):
        if rank.rank == 1:
            rank.charge("compute", "late", 1.0)
        peer = 1 - rank.rank
        work = rank.irecv(np.zeros(1), peer, (0, 0, 0), None) if rank.rank == 0 else None
        (work or rank.isend(np.zeros(1), peer, (0, 0, 0), None)).wait()

    with pytest.raises(
        DistTimeoutError, match=r"rank 0 at 100 ms: tag 0: recv from rank 1 took longer than its timeout"
    ):
        run(program, 2, timeout=0.1)


def test_a_late_collective_is_a_time_out():
    def program(rank):
        rank.charge("compute", "w", 1.0 * rank.rank)
        rank.collective(call(rank, 0, np.zeros(4)), async_op=False)

    with pytest.raises(
        DistTimeoutError, match=r"all_reduce #0 of group 'world' took longer than its timeout of 100 ms"
    ):
        run(program, 2, timeout=0.1)


def test_many_ranks_are_summed_up():
    def program(rank):
        rank.irecv(np.zeros(1), (rank.rank + 1) % 40, (0, 0, 0), None).wait()

    with pytest.raises(DeadlockError, match="and 24 more ranks"):
        run(program, 40)
