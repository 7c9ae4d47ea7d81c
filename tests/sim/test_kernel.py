"""The clock keeps its promises: order at equal times, absolute instants, no way back, hash seeds do not matter."""

import gc

import numpy as np
import pytest

from simdist.sim.kernel import Kernel, Stopped
from simdist.sim.waiting import Waiting
from tests.sim.programs import run


def test_events_of_one_time_happen_in_the_order_in_which_they_were_scheduled():
    for extra in range(4):
        kernel, seen = Kernel(), []
        for place, name in enumerate("ABC"):
            if place == extra:
                kernel.at(1.0, lambda: None)
            kernel.at(1.0, lambda name=name: seen.append(name))
        if extra == 3:
            kernel.at(1.0, lambda: None)
        kernel.run(lambda task, error: None)
        assert seen == ["A", "B", "C"]


def test_an_event_stands_at_exactly_the_time_it_was_given():
    kernel, seen = Kernel(), []
    time = 0.1 + 0.2
    kernel.at(0.1, lambda: kernel.at(time, lambda: seen.append(kernel.env.now)))
    kernel.run(lambda task, error: None)
    assert seen == [time]


def test_the_clock_never_goes_back():
    kernel, seen = Kernel(), []
    kernel.at(1.0, lambda: kernel.at(0.5, lambda: seen.append(kernel.env.now)))
    kernel.run(lambda task, error: None)
    assert seen == [1.0]


def test_lazy_advance_makes_no_event_and_strict_advance_makes_one():
    counts = {}
    for lazy in (True, False):
        job = run(lambda rank: [rank.charge("compute", "w", 1e-6) for _ in range(10)], 2, lazy=lazy)
        counts[lazy] = next(job.kernel.env._eid)
    assert counts[True] == 0
    assert counts[False] == 20


def test_a_million_steps_stay_within_a_relative_error_of_one_in_1e11():
    """Times are floats: repeated addition drifts. This is how far (documented in docs/clock.md)."""
    job = run(lambda rank: [rank.charge("compute", "w", 1e-6) for _ in range(1_000_000)], 1, traced=False)
    assert job.time == pytest.approx(1.0, rel=1e-11)


def test_a_stopped_task_ends_and_close_ends_the_rest():
    kernel = Kernel()
    seen = []

    def body(_=None):
        try:
            kernel.wait(kernel.current, Waiting("for ever"))
        except Stopped:
            seen.append("stopped")
            raise

    task = kernel.spawn(0, "main", body)
    kernel.run(lambda task, error: None)
    assert not task.finished
    kernel.close()
    assert task.finished
    assert seen == ["stopped"]


def test_throw_raises_in_the_waiting_task():
    kernel, seen = Kernel(), []

    def body(_=None):
        try:
            kernel.wait(kernel.current, Waiting("for ever"))
        except ValueError as error:
            seen.append(str(error))

    task = kernel.spawn(0, "main", body)
    kernel.at(1.0, lambda: kernel.throw(task, ValueError("now")))
    kernel.run(lambda task, error: None)
    assert seen == ["now"]


def test_each_rank_has_its_own_errstate():
    def program(rank):
        if rank.rank == 0:
            np.seterr(divide="raise")
        rank.is_completed(type("Never", (), {"completed_at": lambda self, now: False})())
        return np.geterr()["divide"]

    assert run(program, 2).results == ["raise", np.geterr()["divide"]]


def test_a_frame_of_c_code_can_be_suspended():
    def program(rank):
        def key(value):
            rank.charge("compute", "w", 1e-6)
            peer = rank.rank ^ 1
            got = np.zeros(1)
            receive = rank.irecv(got, peer, (0, 0, 1), None)
            rank.isend(np.array([float(value)]), peer, (0, 0, 1), None).wait()
            receive.wait()
            return -got[0]

        return sorted([1, 2, 3], key=key)

    assert run(program, 2).results == [[3, 2, 1]] * 2


@pytest.mark.parametrize("depth", [400])
def test_deep_recursion_in_a_rank(depth):
    def program(rank):
        def down(n):
            return n if n == 0 else down(n - 1)

        return down(depth)

    assert run(program, 2).results == [0, 0]


def test_a_rank_that_catches_everything_does_not_hold_up_the_end():
    """It is put to sleep where it waits; neither the end of the run nor the collector wakes it."""
    laps = []

    def program(rank):
        if rank.rank == 1:
            raise ValueError("over")
        while True:
            try:
                laps.append(1)
                rank.irecv(np.zeros(1), 1, (0, 0, 0), None).wait()
            except BaseException:
                continue

    with pytest.raises(ValueError, match="over"):
        run(program, 2)
    before = len(laps)
    gc.collect()
    assert len(laps) == before < 100
