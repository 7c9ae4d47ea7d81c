import numpy as np
import pytest

from simdist.sim.rank import POLL_SECONDS
from tests.sim.programs import call, run


def test_asking_costs_a_microsecond_and_lets_the_others_run():
    def program(rank):
        if rank.rank == 1:
            rank.charge("compute", "w", 10.5e-6)
            rank.isend(np.ones(1), 0, (0, 0, 0), None).wait()
            return 0
        work, asked = rank.irecv(np.zeros(1), 1, (0, 0, 0), None), 0
        while not rank.is_completed(work):
            asked += 1
        work.wait()
        return asked

    for lazy in (True, False):
        job = run(program, 2, lazy=lazy)
        arrived = job.ranks[1].main.now
        assert job.results[0] >= int(arrived / POLL_SECONDS) - 1
        assert job.results[0] < 20


def test_compute_by_hand_and_sleep_are_told_apart():
    def program(rank):
        rank.charge("compute", "mine", 1e-3)
        rank.sleep(2e-3)

    spans = run(program, 1).spans
    assert [(s[2], s[3]) for s in spans] == [("compute", "mine"), ("sleep", "sleep")]
    assert spans[-1][5] == pytest.approx(3e-3)


def test_what_a_rank_waits_for():
    seen, first = [], []

    def program(rank):
        if rank.rank == 0:
            first.append(rank)
        else:
            rank.charge("compute", "w", 1.0)
            seen.append(first[0].wait_text())
        rank.collective(call(rank, 0, np.zeros(3)), async_op=False)

    run(program, 2)
    assert seen == ["all_reduce #0 of group 'world'"]
