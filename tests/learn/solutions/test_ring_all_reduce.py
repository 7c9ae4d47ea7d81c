from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
from simdist.learn import check
from simdist.learn.solutions import ring_all_reduce


def given(rank: int, world_size: int, count: int) -> np.ndarray:
    x = np.arange(count, dtype=np.float64) * (rank + 1)
    ring_all_reduce.reference(x, rank, world_size)
    return x


def test_the_reference_passes() -> None:
    result = check("ring_all_reduce", ring_all_reduce.reference, quiet=True)
    assert result.passed, str(result)


def test_the_reference_is_near_the_bound() -> None:
    """14 steps of 5 us and 8 MB at 25 GB/s: 1.6 per cent above what no algorithm can beat."""
    run = check("ring_all_reduce", ring_all_reduce.reference, quiet=True).run
    assert run is not None
    assert run.time == pytest.approx(14 * (5e-6 + 8e6 / 25e9), rel=1e-12)


@pytest.mark.parametrize(("world_size", "count"), [(1, 3), (4, 2), (3, 7)])
def test_the_reference_works_outside_of_a_check(world_size: int, count: int) -> None:
    factor = world_size * (world_size + 1) // 2
    for result in sd.run(given, count, world_size=world_size).results:
        assert list(result) == [i * factor for i in range(count)]


def test_the_naive_one_has_the_right_numbers_and_moves_too_much() -> None:
    result = check("ring_all_reduce", ring_all_reduce.naive, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == ["simulated time", "bytes sent by a rank"]
    rows = {row.name: row for row in result.criteria}
    assert rows["bytes sent by a rank"].yours == "448 MB, p = 8"
    assert rows["bytes sent by a rank"].limit == "= 112 MB (2(p-1)n/p)"
    assert "Moves too much" in str(result)
