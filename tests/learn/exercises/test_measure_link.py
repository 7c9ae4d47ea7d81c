from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.backends import context
from simdist.learn import check
from simdist.learn.exercises.measure_link import EXERCISE, LATE, given, machines, spec
from simdist.learn.solutions.measure_link import reference


def missed(fn: Any) -> list[str]:
    return [row.name for row in check("measure_link", fn, quiet=True).criteria if row.met is False]


def test_the_hidden_numbers_vary_and_are_those_of_the_statement() -> None:
    found = [given(case, 0) for case in EXERCISE.cases]
    assert len({tuple(one) for one in found}) == len(found) == 3
    for alpha, bandwidth in found:
        assert 1e-6 <= alpha <= 1e-4
        assert 1e9 <= bandwidth <= 1e11


def test_the_link_has_the_hidden_numbers() -> None:
    case = EXERCISE.cases[1]
    route = machines(case).route(0, 1)
    assert (route.latency, route.bandwidth) == pytest.approx(tuple(spec(case)[0]), rel=1e-12)


def test_the_heading_hides_them() -> None:
    assert str(check("measure_link", lambda rank, p: None, quiet=True)).startswith(
        "measure_link · p = 2 · α and B are hidden\n"
    )


def test_a_constant_is_right_for_one_link_at_most() -> None:
    def constant(rank: int, world_size: int) -> Any:
        return tuple(given(EXERCISE.cases[0], 0))

    result = check("measure_link", constant, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == [
        "error of α", "error of B", "messages in all", "bytes on the wire",
    ]  # fmt: skip


def test_looking_the_numbers_up_is_no_measurement() -> None:
    def look_up(rank: int, world_size: int) -> Any:
        world: Any = context.require("a cheat")
        route = world.site.cluster.route(0, 1)
        return route.latency, route.bandwidth

    assert missed(look_up) == ["messages in all", "bytes on the wire"]


def test_without_a_first_message_rank_1_is_waited_for() -> None:
    def impatient(rank: int, world_size: int) -> Any:
        start = sd.current_time()
        x = np.zeros(1)
        if rank == 0:
            dist.send(x, 1)
            dist.recv(x, 1)
        else:
            dist.recv(x, 0)
            dist.send(x, 0)
        waited = (sd.current_time() - start) / 2
        return waited, (reference(rank, world_size) or (0, 0))[1]

    result = check("measure_link", impatient, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == ["error of α"]
    assert "Was rank 1 there when you looked at the clock?" in " ".join(str(result).split())
    assert given(EXERCISE.cases[0], 0)[0] < LATE / 2


def test_there_and_back_is_twice_the_way() -> None:
    def both_ways(rank: int, world_size: int) -> Any:
        alpha, bandwidth = reference(rank, world_size)
        return 2 * alpha, bandwidth / 2

    assert missed(both_ways) == ["error of α", "error of B"]


def test_too_many_bytes_are_no_measurement_but_a_load() -> None:
    def patient(rank: int, world_size: int) -> Any:
        found = reference(rank, world_size)
        x = np.zeros(8_000_000)
        dist.send(x, 1) if rank == 0 else dist.recv(x, 0)
        return found

    assert missed(patient) == ["bytes on the wire"]


def test_the_receivers_clock_does_as_well() -> None:
    """Simulated clocks agree: after a message that both have, the receiver's clock alone tells."""

    def one_way(rank: int, world_size: int) -> Any:
        times = np.zeros(2)
        for i, count in enumerate((1, 1_000_000)):
            x = np.zeros(count)
            dist.barrier()
            start = sd.current_time()
            dist.send(x, 1) if rank == 0 else dist.recv(x, 0)
            times[i] = sd.current_time() - start
        dist.send(times, 0) if rank == 1 else dist.recv(times, 1)
        bandwidth = (8e6 - 8) / (times[1] - times[0])
        return times[0] - 8 / bandwidth, bandwidth

    assert missed(one_way) == []


def test_another_kind_of_answer_is_described() -> None:
    result = check("measure_link", lambda rank, p: 3.0, quiet=True)
    assert "p = 2: rank 0 ended with float64 (), expected float64 (2,)." in str(result)
