from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
from simdist.learn import check
from simdist.learn.solutions import small_all_reduce


def given(rank: int, world_size: int, count: int) -> np.ndarray:
    x = np.arange(count, dtype=np.float64) * (rank + 1)
    small_all_reduce.reference(x, rank, world_size)
    return x


def test_the_reference_passes() -> None:
    result = check("small_all_reduce", small_all_reduce.reference, quiet=True)
    assert result.passed, str(result)


def test_the_reference_takes_six_messages_time() -> None:
    run = check("small_all_reduce", small_all_reduce.reference, quiet=True).run
    assert run is not None
    assert run.time == pytest.approx(6 * (5e-6 + 1000 / 25e9), rel=1e-12)


@pytest.mark.parametrize("world_size", [1, 2, 4, 16])
def test_the_reference_works_outside_of_a_check(world_size: int) -> None:
    factor = world_size * (world_size + 1) // 2
    for result in sd.run(given, 5, world_size=world_size).results:
        assert list(result) == [i * factor for i in range(5)]


def test_the_naive_one_takes_twenty_times_as_long() -> None:
    result = check("small_all_reduce", small_all_reduce.naive, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == [
        "simulated time", "messages of a rank", "messages to a rank",
    ]  # fmt: skip
    rows = {row.name: row for row in result.criteria}
    assert rows["simulated time"].yours == "630 us, p = 64"
    assert rows["messages of a rank"].yours == "126, p = 64"
    assert "Too many messages: each costs α" in str(result)
