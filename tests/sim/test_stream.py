import numpy as np
import pytest

from tests.sim.programs import call, run


def test_work_of_one_stream_is_in_order_and_overlaps_with_computing():
    def program(rank):
        x = np.zeros(1 << 18, np.float32)
        works = [rank.collective(call(rank, i, x), async_op=True) for i in range(3)]
        rank.charge("backward", "w", 1.0)
        for work in works:
            work.wait()
        return [(work.issued, work.ready, work.done) for work in works]

    job = run(program, 4)
    times = job.results[0]
    assert [t[0] for t in times] == [0.0] * 3
    assert times[0][2] == times[1][1]
    assert times[1][2] == times[2][1]
    assert times[2][2] < 1.0
    assert job.time == 1.0
    assert [s[2] for s in job.spans if s[0] == 0 and s[1] == "main"] == ["backward"]
    assert [s[2] for s in job.spans if s[0] == 0 and s[1] == "comm:0"] == ["communication"] * 3


def test_a_blocking_collective_goes_behind_what_is_queued():
    def program(rank):
        big, small = np.zeros(1 << 18, np.float32), np.zeros(4, np.float32)
        work = rank.collective(call(rank, 0, big), async_op=True)
        rank.collective(call(rank, 1, small), async_op=False)
        return work.done, rank.now()

    done, now = run(program, 2).results[0]
    assert now > done


def test_two_groups_have_two_streams():
    def program(rank):
        x = np.zeros(1 << 16, np.float32)
        works = [rank.collective(call(rank, 0, x, group=g), async_op=True) for g in (1, 2)]
        for work in works:
            work.wait()

    job = run(program, 2)
    assert sorted({s[1] for s in job.spans if s[2] == "communication"}) == ["comm:1", "comm:2", "main"]


def test_waiting_twice_is_harmless():
    def program(rank):
        work = rank.collective(call(rank, 0, np.ones(4)), async_op=True)
        work.wait()
        before = rank.now()
        work.wait()
        return rank.now() == before and work.completed_at(before)

    assert run(program, 2).results == [True, True]


def test_a_late_member_is_waited_for_on_the_stream():
    def program(rank):
        if rank.rank == 1:
            rank.charge("compute", "late", 1e-3)
        work = rank.collective(call(rank, 0, np.ones(4)), async_op=True)
        work.wait()
        return work.ready

    assert run(program, 2).results == [pytest.approx(1e-3)] * 2
