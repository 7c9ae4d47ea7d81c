from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist
from simdist.learn import check
from simdist.learn.exercises.small_all_reduce import EXERCISE
from simdist.learn.solutions.small_all_reduce import reference
from simdist.learn.summing import given, spec


def missed(fn: Any) -> list[str]:
    return [row.name for row in check("small_all_reduce", fn, quiet=True).criteria if row.met is False]


def to_others(x: Any, rank: int, others: list[int]) -> list[Any]:
    """Exchange x with all of them at once; their buffers."""
    arrived = [np.empty_like(x) for _ in others]
    mine = x.copy()
    works = [dist.irecv(into, other) for into, other in zip(arrived, others, strict=True)]
    works += [dist.isend(mine, other) for other in others]
    for work in works:
        work.wait()
    return arrived


def test_the_measured_case_is_that_of_the_statement() -> None:
    case = EXERCISE.cases[0]
    assert (case.world_size, case.nbytes, given(case, 0).nbytes) == (64, 1000, 1000)


def test_the_spec_is_the_sum() -> None:
    case = EXERCISE.cases[3]
    assert np.allclose(spec(case)[0], sum(given(case, rank) for rank in range(4)), rtol=1e-15)


def test_the_ready_made_collective_is_not_the_exercise() -> None:
    assert "ready-made collectives" in missed(lambda x, rank, p: dist.all_reduce(x))


def test_doing_nothing_moves_too_little() -> None:
    assert missed(lambda x, rank, p: None) == [
        "numbers equal the spec's", "ranks that differ", "simulated time", "messages of a rank", "messages to a rank",
        "bytes on the wire",
    ]  # fmt: skip


def test_everything_to_everybody_is_fast_and_too_much_work() -> None:
    def direct(x: Any, rank: int, world_size: int) -> None:
        others = [other for other in range(world_size) if other != rank]
        mine = x.copy()
        parts = dict(zip(others, to_others(x, rank, others), strict=True)) | {rank: mine}
        x[:] = sum(parts[other] for other in range(world_size))

    assert missed(direct) == ["messages of a rank", "messages to a rank", "bytes on the wire"]


def test_a_star_is_fast_and_too_much_work_for_its_centre() -> None:
    def star(x: Any, rank: int, world_size: int) -> None:
        if rank == 0:
            arrived = {other: np.empty_like(x) for other in range(1, world_size)}
            for work in [dist.irecv(into, other) for other, into in arrived.items()]:
                work.wait()
            for one in arrived.values():
                x += one
            for work in [dist.isend(x, other) for other in range(1, world_size)]:
                work.wait()
        else:
            dist.send(x, 0)
            dist.recv(x, 0)

    assert missed(star) == ["messages of a rank", "messages to a rank"]


def test_a_tree_up_and_down_takes_twice_as_long() -> None:
    def up_and_down(x: Any, rank: int, world_size: int) -> None:
        received, distance = np.empty_like(x), 1
        while distance < world_size and rank % (2 * distance) == 0:
            dist.recv(received, rank + distance)
            x += received
            distance *= 2
        if rank:
            dist.send(x, rank - distance)
            dist.recv(x, rank - distance)
        while distance > 1:
            distance //= 2
            dist.send(x, rank + distance)

    assert missed(up_and_down) == ["simulated time"]


def test_half_the_precision_is_half_the_truth() -> None:
    def single(x: Any, rank: int, world_size: int) -> None:
        half = x.astype(np.float32)
        reference(half, rank, world_size)
        x[:] = half

    assert missed(single) == ["numbers equal the spec's"]


def test_sums_that_leave_out_a_round_move_too_little() -> None:
    def lazy(x: Any, rank: int, world_size: int) -> None:
        reference(x, rank % 32, 32) if world_size == 64 and rank < 32 else None

    assert "numbers equal the spec's" in missed(lazy)
