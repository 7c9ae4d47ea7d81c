from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.learn.case import Case
from simdist.learn.isolation import by_value
from simdist.learn.measure import MEASURES, disagreement
from simdist.learn.trial import Trial, attempt

CASE = Case(3, 4, 1, measured=True, scale=10)


def given(case: Case, rank: int) -> Any:
    return np.full(case.size, float(rank))


def program(fn: Any, x: Any, case: Case, rank: int) -> Any:
    return fn(x, rank, case.world_size)


def tried(fn: Any, case: Case = CASE) -> Trial:
    expected = [np.zeros(case.size)] * case.world_size
    return attempt("probe", by_value(fn), program, given, case, expected)


def one_message(x: Any, rank: int, world_size: int) -> Any:
    if rank == 0:
        dist.send(x, dst=1)
    if rank == 1:
        dist.recv(x, src=0)
    return x


def two_collectives(x: Any, rank: int, world_size: int) -> Any:
    dist.all_reduce(x)
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    return x


def values(measure: str, trial: Trial) -> list[float]:
    assert trial.run is not None, trial.failure
    return list(MEASURES[measure].values(trial))


def test_bytes_and_messages_of_each_rank_are_counted_at_full_size() -> None:
    trial = tried(one_message)
    assert values("sent", trial) == [320.0, 0.0, 0.0]  # 4 float64, ten times
    assert values("wire", trial) == [320.0]
    assert values("messages", trial) == [1.0, 0.0, 0.0]


def test_ready_made_collectives_are_counted_once_each() -> None:
    assert values("collectives", tried(two_collectives)) == [2.0, 2.0, 2.0]
    assert values("collectives", tried(one_message)) == [0.0, 0.0, 0.0]


def test_time_is_the_runs() -> None:
    trial = tried(one_message)
    assert trial.run is not None
    assert values("time", trial) == [trial.run.time]


def test_memory_is_the_peak_of_each_rank() -> None:
    assert values("memory", tried(one_message)) == [0.0, 0.0, 0.0]


def test_ranks_that_differ_from_the_first_are_counted() -> None:
    assert values("agreement", tried(one_message)) == [1.0]  # rank 1 now has rank 0's, rank 2 its own
    assert values("agreement", tried(two_collectives)) == [0.0]
    assert values("agreement", tried(lambda x, rank, p: None)) == [0.0]


def test_numbers_are_compared_with_the_expected_ones() -> None:
    assert values("numbers", tried(one_message)) == [0.0, 0.0, 2.0]


@pytest.mark.parametrize(
    ("got", "expected", "error"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 2.0]), 0.0),
        (np.array([1.0, 2.5]), np.array([1.0, 2.0]), 0.25),
        (np.array([1e-3]), np.array([0.0]), 1e-3),
        (np.zeros(0), np.zeros(0), 0.0),
        (np.zeros(3), np.zeros(2), math.inf),
        (np.zeros(2, np.float32), np.zeros(2), math.inf),
        (np.array([math.nan]), np.array([1.0]), math.inf),
        (None, np.zeros(2), math.inf),
    ],
)
def test_disagreement(got: Any, expected: Any, error: float) -> None:
    assert disagreement(got, expected) == error


def test_every_measure_teaches() -> None:
    for measure in MEASURES.values():
        assert measure.too_high.endswith((".", "?"))
    assert "Moves too little" in MEASURES["sent"].too_low
    assert "Faster than any right program" in MEASURES["time"].too_low
