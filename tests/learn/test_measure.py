from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.cluster import Cluster
from simdist.learn.case import Case
from simdist.learn.classroom import two_levels
from simdist.learn.isolation import by_value
from simdist.learn.measure import MEASURES, disagreement
from simdist.learn.trial import Trial, attempt
from simdist.tensor import MetaArray

CASE = Case(3, 4, 1, measured=True, scale=10)


def given(case: Case, rank: int) -> Any:
    return np.full(case.size, float(rank))


def program(fn: Any, x: Any, case: Case, rank: int) -> Any:
    return fn(x, rank, case.world_size)


def tried(fn: Any, case: Case = CASE, cluster: Cluster | None = None) -> Trial:
    expected = [np.zeros(case.size)] * case.world_size
    return attempt("probe", by_value(fn), program, given, case, expected, cluster=cluster)


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


def test_messages_are_counted_where_they_arrive_and_in_all() -> None:
    assert values("received", tried(one_message)) == [0.0, 1.0, 0.0]
    assert values("all_messages", tried(one_message)) == [1.0]
    assert values("all_messages", tried(lambda x, rank, p: x)) == [0.0]


def test_bytes_between_machines_are_counted_at_both_ends() -> None:
    def two_messages(x: Any, rank: int, world_size: int) -> Any:
        if rank == 0:
            dist.send(x, dst=1)  # inside
            dist.send(x, dst=2)  # to the other machine
        else:
            dist.recv(x, src=0) if rank in (1, 2) else None
        return x

    case = Case(4, 4, 1, measured=True, scale=10, per_node=2)
    trial = tried(two_messages, case, two_levels(2, 2))
    assert values("between", trial) == [320.0]
    assert values("card", trial) == [320.0, 0.0, 320.0, 0.0]
    assert values("sent", trial) == [640.0, 0.0, 0.0, 0.0]


def test_a_measured_link_is_compared_number_by_number() -> None:
    def found(trial: Trial) -> list[list[float]]:
        return [values("latency", trial), values("bandwidth", trial)]

    def against(result: Any) -> list[list[float]]:
        expected = [np.array([2e-6, 1e9])] * 2
        packed = by_value(lambda x, rank, p: result)
        return found(attempt("probe", packed, program, given, Case(2, 1, 1), expected))

    assert against((2e-6, 1e9)) == [[0.0], [0.0]]
    assert against((3e-6, 5e8)) == [[pytest.approx(0.5)], [0.5]]
    assert against(None) == against(2e-6) == against((1.0, 2.0, 3.0)) == [[math.inf], [math.inf]]
    assert [MEASURES["latency"].show(error) for error in (1e-15, 0.0125, 0.164, 27.0)] == [
        "0.00 %",
        "1.25 %",
        "16 %",
        "2700 %",
    ]
    assert MEASURES["latency"].show(math.inf) == "not these"


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
    assert values("agreement", tried(lambda x, rank, p: MetaArray((3,), np.float64))) == [0.0]
    assert values("agreement", tried(lambda x, rank, p: MetaArray((3 + rank // 2,), np.float64))) == [1.0]


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
        (MetaArray((2,), np.float64), MetaArray((2,), np.float64), 0.0),
        (MetaArray((3,), np.float64), MetaArray((2,), np.float64), math.inf),
        (MetaArray((2,), np.float64), np.zeros(2), math.inf),
        (np.zeros(2), MetaArray((2,), np.float64), math.inf),
    ],
)
def test_disagreement(got: Any, expected: Any, error: float) -> None:
    assert disagreement(got, expected) == error


def test_every_measure_teaches() -> None:
    for measure in MEASURES.values():
        assert measure.too_high.endswith((".", "?"))
    assert "Moves too little" in MEASURES["sent"].too_low
    assert "Faster than any right program" in MEASURES["time"].too_low
