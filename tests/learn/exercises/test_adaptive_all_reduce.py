from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.learn import Check, check
from simdist.learn.exercises.adaptive_all_reduce import EXERCISE, SIZES, factor
from simdist.learn.solutions import ring_all_reduce, small_all_reduce
from simdist.learn.solutions.adaptive_all_reduce import halve_and_double, reference
from simdist.learn.summing import given, spec
from simdist.tensor import MetaArray


def tried(fn: Any) -> Check:
    return check("adaptive_all_reduce", fn, quiet=True)


def missed(fn: Any) -> list[str]:
    return [row.name for row in tried(fn).criteria if row.met is False]


def yours(fn: Any, name: str) -> str:
    (row,) = [row for row in tried(fn).criteria if row.name == name and row.met is False]
    return row.yours


def test_all_sizes_are_measured_on_8_and_on_64_ranks() -> None:
    measured = [(case.world_size, case.nbytes) for case in EXERCISE.cases if case.measured]
    assert measured == [(p, n) for p in (8, 64) for n in SIZES]
    assert (SIZES[0], SIZES[-1]) == (1 << 10, 1 << 30)


def test_large_buffers_are_measured_without_numbers_and_tried_with_some() -> None:
    assert [case.nbytes for case in EXERCISE.cases if case.is_meta] == [n for n in SIZES if n > 1 << 16] * 2
    with_numbers = max(case.size for case in EXERCISE.cases if not case.measured)
    assert 8 * with_numbers > 4e6, "where halving and doubling is the right choice, numbers are looked at too"
    assert isinstance(given(EXERCISE.cases[4], 0), MetaArray)
    assert isinstance(spec(EXERCISE.cases[4])[0], MetaArray)


@pytest.mark.parametrize(("nbytes", "times"), list(zip(SIZES, [1.25, 1.25, 2.8, 1.25, 1.25], strict=True)))
def test_how_often_the_bound_is_allowed(nbytes: int, times: float) -> None:
    (case,) = [case for case in EXERCISE.cases if (case.world_size, case.nbytes) == (64, nbytes)]
    assert factor(case) == times


def test_the_ready_made_collective_is_not_the_exercise() -> None:
    assert "ready-made collectives" in missed(lambda x, rank, p: dist.all_reduce(x))


def test_recursive_doubling_alone_moves_too_much_of_a_large_buffer() -> None:
    assert missed(small_all_reduce.reference) == ["simulated time"]
    assert yours(small_all_reduce.reference, "simulated time").endswith("p = 8, n = 4.19 MB")


def test_halving_and_doubling_alone_has_too_many_rounds_for_a_small_one() -> None:
    assert yours(halve_and_double, "simulated time").endswith("30.1 us, p = 8, n = 1.02 kB")


def test_a_ring_for_the_large_ones_has_too_many_messages() -> None:
    def doubling_or_ring(x: Any, rank: int, world_size: int) -> None:
        fn = small_all_reduce.reference if x.nbytes < 1e6 else ring_all_reduce.reference
        fn(x, rank, world_size)

    assert missed(doubling_or_ring) == ["simulated time", "messages of a rank", "messages to a rank"]


def test_leaving_out_the_large_ones_is_seen_though_nothing_can_be_read_from_them() -> None:
    def small_only(x: Any, rank: int, world_size: int) -> None:
        if isinstance(x, np.ndarray):
            reference(x, rank, world_size)

    assert missed(small_only) == ["simulated time", "messages of a rank", "messages to a rank", "bytes on the wire"]


def test_a_large_buffer_in_a_small_message_moves_too_little() -> None:
    def compressed(x: Any, rank: int, world_size: int) -> None:
        part = x[: len(x) // 16] if x.nbytes > 1e5 else x
        reference(part, rank, world_size)

    assert missed(compressed) == [
        "numbers equal the spec's",
        "ranks that differ",
        "simulated time",
        "bytes on the wire",
    ]


def test_reading_a_number_where_there_are_none_is_told() -> None:
    def curious(x: Any, rank: int, world_size: int) -> None:
        if x[0] > 0:
            reference(x, rank, world_size)

    result = tried(curious)
    assert not result.passed
    assert not result.criteria[0].passed
