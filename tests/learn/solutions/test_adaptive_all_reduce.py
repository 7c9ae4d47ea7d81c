from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
from simdist.learn import check
from simdist.learn.classroom import all_reduce_bound, classroom
from simdist.learn.solutions import adaptive_all_reduce
from simdist.tensor import MetaArray


def summed(rank: int, world_size: int, count: int) -> np.ndarray:
    x = np.arange(count, dtype=np.float64) * (rank + 1)
    adaptive_all_reduce.reference(x, rank, world_size)
    return x


def timed(rank: int, world_size: int, nbytes: int) -> None:
    adaptive_all_reduce.reference(MetaArray((nbytes // 8,), np.float64), rank, world_size)


def test_the_reference_passes() -> None:
    result = check("adaptive_all_reduce", adaptive_all_reduce.reference, quiet=True)
    assert result.passed, str(result)


@pytest.mark.parametrize(("world_size", "worst"), [(8, 2.53), (64, 2.69)])
def test_the_reference_is_near_the_bound_at_every_power_of_two(world_size: int, worst: float) -> None:
    machines = classroom(world_size)
    found = [
        sd.run(timed, 1 << k, world_size=world_size, cluster=machines).time / all_reduce_bound(world_size, 1 << k)
        for k in range(10, 31, 2)
    ]
    assert max(found) == pytest.approx(worst, abs=0.01)
    assert found[0] < 1.02
    assert found[-1] < 1.01


@pytest.mark.parametrize(("world_size", "count"), [(1, 3), (2, 1), (4, 3), (8, 50_001)])
def test_the_reference_works_outside_of_a_check(world_size: int, count: int) -> None:
    factor = world_size * (world_size + 1) // 2
    expected = np.arange(count) * float(factor)
    for result in sd.run(summed, count, world_size=world_size).results:
        assert np.array_equal(result, expected)


def test_the_naive_one_is_21_times_the_bound() -> None:
    result = check("adaptive_all_reduce", adaptive_all_reduce.naive, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == [
        "simulated time", "messages of a rank", "messages to a rank",
    ]  # fmt: skip
    rows = {row.name: row for row in result.criteria}
    assert rows["simulated time"].yours == "70.1 us, p = 8, n = 1.02 kB"
    assert rows["simulated time"].limit == "5.07 us … 18.8 us (1.25 or 2.8 of the bound)"
    assert "Too slow" in str(result)
