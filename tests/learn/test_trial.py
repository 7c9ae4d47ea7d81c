from __future__ import annotations

import random
import sys
import time
from typing import Any

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.learn.case import Case
from simdist.learn.classroom import classroom
from simdist.learn.isolation import by_value
from simdist.learn.trial import SIMULATED_SECONDS, Trial, attempt

CASE = Case(2, 4, 1)


def given(case: Case, rank: int) -> Any:
    return np.full(case.size, float(rank))


def program(fn: Any, x: Any, case: Case, rank: int) -> Any:
    return fn(x, rank, case.world_size)


def tried(fn: Any, **options: Any) -> Trial:
    return attempt(
        "probe, yours", by_value(fn), program, given, CASE, [given(CASE, 1)] * 2, filename=__file__, **options
    )


def add(x: Any, rank: int, world_size: int) -> Any:
    dist.all_reduce(x)
    return x


def sleep_for_ever(x: Any, rank: int, world_size: int) -> None:
    if rank == 1:
        dist.recv(x, src=0)
    while True:
        sd.sleep(1e-3)


def poll_for_ever(x: Any, rank: int, world_size: int) -> None:
    work = dist.irecv(x, src=1 - rank)
    while not work.is_completed():
        sd.sleep(1e-3)


def compute_for_ever(x: Any, rank: int, world_size: int) -> None:
    while True:
        pass


def swallow(x: Any, rank: int, world_size: int) -> None:
    while True:
        try:
            while True:
                x += 1
        except Exception:
            continue


def test_a_trial_that_ends_is_a_run_under_the_exercises_name() -> None:
    trial = tried(add)
    assert trial.failure is None
    assert trial.run is not None
    assert trial.run.name == "probe, yours"
    assert trial.trace.meta["name"] == "probe, yours"
    assert [list(result) for result in trial.results] == [[1.0] * 4, [1.0] * 4]
    assert trial.time == trial.run.time > 0
    assert trial.trace.end == trial.time
    assert trial.peaks == [0, 0]


def test_the_same_on_real_processes() -> None:
    trial = tried(add, backend="process")
    assert trial.failure is None
    assert [list(result) for result in trial.results] == [[1.0] * 4, [1.0] * 4]


def test_a_trial_that_failed_has_no_run() -> None:
    trial = tried(lambda x, rank, world_size: x[7])
    assert trial.run is None
    assert trial.failure is not None
    assert trial.failure.word == "IndexError"
    with pytest.raises(AssertionError, match="trials that have ended"):
        _ = trial.results


@pytest.mark.parametrize("fn", [sleep_for_ever, poll_for_ever])
def test_a_loop_in_simulated_time_ends_at_the_simulated_limit(fn: Any) -> None:
    began = time.monotonic()
    first, second = tried(fn), tried(fn)
    assert time.monotonic() - began < 10.0
    assert first.failure is not None
    assert first.failure.word == "endless loop"
    assert (
        f"{SIMULATED_SECONDS:g} s of simulated time have passed, and the function has not returned"
        in first.failure.lesson
    )
    assert first.failure == second.failure, "the simulated limit does not depend on the host"


@pytest.mark.parametrize("fn", [compute_for_ever, swallow])
def test_a_loop_on_the_host_ends_at_the_hosts_limit(fn: Any) -> None:
    began = time.monotonic()
    failure = tried(fn, seconds=0.6).failure
    assert time.monotonic() - began < 10.0
    assert failure is not None
    assert failure.word == "took too long"
    assert "After 0.6 s on this computer" in failure.lesson


def test_a_deadlock_is_told_by_the_simulator() -> None:
    failure = tried(lambda x, rank, world_size: dist.send(x, dst=1 - rank)).failure
    assert failure is not None
    assert failure.word == "deadlock"
    assert "The cycle: 0 -> 1 -> 0." in failure.lesson


def test_another_ranks_failure_is_no_endless_loop() -> None:
    def one_fails(x: Any, rank: int, world_size: int) -> None:
        if rank == 0:
            raise KeyError("early")
        sd.sleep(1e-3)
        sd.sleep(1e-3)

    failure = tried(one_fails).failure
    assert failure is not None
    assert failure.word == "KeyError"
    assert "simulated time have passed" not in failure.lesson


def test_leaving_the_interpreter_does_not_leave_it() -> None:
    failure = tried(lambda x, rank, world_size: sys.exit(3)).failure
    assert failure is not None
    assert failure.word == "left the run"
    assert "sys.exit(3)" in failure.lesson


def test_what_a_run_warns_of_is_kept() -> None:
    trial = tried(lambda x, rank, world_size: random.random())
    assert any("global random state" in text for text in trial.warnings)


def test_ctrl_c_is_not_caught() -> None:
    def interrupt(x: Any, rank: int, world_size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tried(interrupt)


def test_a_trial_on_other_machines() -> None:
    slow = tried(add, cluster=classroom(2, alpha=1e-3))
    assert slow.time == pytest.approx(2e-3, rel=1e-3)
    assert slow.time > 100 * tried(add).time
