from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.learn import check
from simdist.learn.case import Case
from simdist.learn.exercises.ring_all_reduce import EXERCISE, bound
from simdist.learn.summing import given, spec


def missed(fn: Any) -> list[str]:
    return [row.name for row in check("ring_all_reduce", fn, quiet=True).criteria if row.met is False]


def test_the_spec_is_the_sum() -> None:
    case = EXERCISE.cases[3]
    assert np.allclose(spec(case)[0], sum(given(case, rank) for rank in range(case.world_size)), rtol=1e-15)
    assert len(spec(case)) == case.world_size


def test_the_measured_case_is_64_megabytes_on_8_ranks() -> None:
    case = EXERCISE.cases[0]
    assert (case.world_size, case.nbytes) == (8, 64_000_000)
    assert given(case, 0).nbytes * case.scale == case.nbytes


@pytest.mark.parametrize(
    ("world_size", "nbytes", "seconds"),
    [(8, 64_000_000, 2 * 7 / 8 * 64e6 / 25e9), (8, 8, 15e-6), (2, 0, 5e-6), (1, 100, 0.0)],
)
def test_the_bound(world_size: int, nbytes: int, seconds: float) -> None:
    assert bound(Case(world_size, 1, 1, nbytes=nbytes)) == pytest.approx(seconds, rel=1e-12)


def test_the_ready_made_collective_is_not_the_exercise() -> None:
    assert missed(lambda x, rank, p: dist.all_reduce(x)) == ["ready-made collectives"]


def test_doing_nothing_moves_too_little() -> None:
    assert missed(lambda x, rank, p: None) == [
        "numbers equal the spec's", "ranks that differ", "simulated time", "bytes sent by a rank",
    ]  # fmt: skip


def test_a_constant_agrees_with_nobody_but_itself() -> None:
    def constant(x: Any, rank: int, world_size: int) -> None:
        x[:] = 0

    assert missed(constant) == ["numbers equal the spec's", "simulated time", "bytes sent by a rank"]


def test_everything_to_rank_0_and_back_is_a_bottleneck() -> None:
    def star(x: Any, rank: int, world_size: int) -> None:
        if rank == 0:
            for other in range(1, world_size):
                arrived = np.empty_like(x)
                dist.recv(arrived, other)
                x += arrived
            for other in range(1, world_size):
                dist.send(x, other)
        else:
            dist.send(x, 0)
            dist.recv(x, 0)

    assert missed(star) == ["simulated time", "bytes sent by a rank"]


def test_ranks_that_add_in_different_orders_differ() -> None:
    def own_first(x: Any, rank: int, world_size: int) -> None:
        mine = x.copy()
        others = [other for other in range(world_size) if other != rank]
        arrived = {other: np.empty_like(x) for other in others}
        works = [dist.irecv(arrived[other], other) for other in others]
        works += [dist.isend(mine, other) for other in others]
        for work in works:
            work.wait()
        for one in arrived.values():
            x += one

    assert "ranks that differ" in missed(own_first)


def test_a_length_that_the_world_does_not_divide_is_tried() -> None:
    def divisible_only(x: Any, rank: int, world_size: int) -> None:
        from simdist.learn.solutions.ring_all_reduce import reference

        if len(x) % world_size == 0:
            reference(x, rank, world_size)

    assert missed(divisible_only) == ["numbers equal the spec's", "ranks that differ"]
