from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.learn import check
from simdist.learn.exercises.data_parallel_step import EXERCISE, given, gradient_bytes, serial, spec
from simdist.nn import functional


def missed(fn: Any) -> list[str]:
    return [row.name for row in check("data_parallel_step", fn, quiet=True).criteria if row.met is False]


def sum_over_count(model: Any, optimizer: Any, x: Any, y: Any, world_size: int) -> None:
    """The gradient of the own rows' part of the mean over all rows."""
    count = np.array([float(len(y))])
    dist.all_reduce(count)
    optimizer.zero_grad()
    (functional.cross_entropy(model(x), y, reduction="sum") / count[0]).backward()


def test_the_worlds_are_those_of_the_statement() -> None:
    assert {case.world_size for case in EXERCISE.cases} == {1, 2, 3, 8}
    assert {case.steps for case in EXERCISE.cases} == {10}


@pytest.mark.parametrize("case", [pytest.param(case, id=str(case)) for case in EXERCISE.cases])
def test_all_rows_are_shared_out_and_the_last_share_is_smaller(case: Any) -> None:
    shares = [len(given(case, rank)[1]) for rank in range(case.world_size)]
    assert sum(shares) == case.size
    assert len(set(shares[:-1])) <= 1
    if case.world_size > 1:
        assert 0 < shares[-1] < shares[0]


def test_the_shares_together_are_the_whole_batch() -> None:
    two, eight = EXERCISE.cases[2], EXERCISE.cases[4]
    assert (two.size, eight.size) == (29, 29)
    whole = np.concatenate([given(eight, rank)[0] for rank in range(8)])
    assert whole.shape == (29, 64)
    assert whole.dtype == np.float64


def test_serial_training_changes_the_parameters() -> None:
    case = EXERCISE.cases[1]
    parameters, seconds, peak = serial(case)
    assert parameters.nbytes == gradient_bytes(case)
    assert seconds > 0
    assert peak > 2 * gradient_bytes(case)
    assert spec(case)[0] is parameters


def test_one_all_reduce_for_each_parameter_is_right_too() -> None:
    def each(model: Any, optimizer: Any, x: Any, y: Any, rank: int, world_size: int) -> None:
        sum_over_count(model, optimizer, x, y, world_size)
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()

    assert check("data_parallel_step", each, quiet=True).passed


def test_without_talking_the_ranks_drift_apart() -> None:
    def alone(model: Any, optimizer: Any, x: Any, y: Any, rank: int, world_size: int) -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    assert missed(alone) == ["numbers equal the spec's", "ranks that differ", "bytes on the wire"]


def test_doing_nothing_is_seen() -> None:
    wrong = missed(lambda model, optimizer, x, y, rank, world_size: None)
    assert wrong == ["numbers equal the spec's", "simulated time", "bytes on the wire", "peak memory of a rank"]


def test_a_sum_instead_of_a_mean_is_a_greater_step() -> None:
    def summed(model: Any, optimizer: Any, x: Any, y: Any, rank: int, world_size: int) -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(x), y).backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()

    assert missed(summed) == ["numbers equal the spec's"]


def test_sending_all_rows_to_everybody_wins_nothing() -> None:
    """Right numbers, but every rank does the whole work and holds the whole batch."""

    def everything(model: Any, optimizer: Any, x: Any, y: Any, rank: int, world_size: int) -> None:
        counts = [np.zeros(1) for _ in range(world_size)]
        dist.all_gather(counts, np.array([float(len(y))]))
        longest = int(max(count[0] for count in counts))
        padded = np.zeros((longest, x.shape[1] + 1))
        padded[: len(y)] = np.column_stack([x, y])
        parts = [np.zeros_like(padded) for _ in range(world_size)]
        dist.all_gather(parts, padded)
        rows = np.concatenate([part[: int(count[0])] for part, count in zip(parts, counts, strict=True)])
        optimizer.zero_grad()
        functional.cross_entropy(model(rows[:, :-1]), rows[:, -1].astype(np.int64)).backward()
        optimizer.step()

    assert missed(everything) == ["simulated time", "bytes on the wire", "peak memory of a rank"]
