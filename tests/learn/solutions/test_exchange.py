from __future__ import annotations

import numpy as np

import simdist as sd
from simdist.learn import check
from simdist.learn.solutions import exchange


def given(rank: int, world_size: int) -> np.ndarray:
    return exchange.reference(np.full(3, float(rank)), rank, world_size)


def test_the_reference_passes() -> None:
    result = check("exchange", exchange.reference, quiet=True)
    assert result.passed, str(result)


def test_the_reference_takes_one_messages_time() -> None:
    result = check("exchange", exchange.reference, quiet=True)
    assert [row.yours for row in result.criteria if row.name == "simulated time"] == ["45 us"]


def test_the_reference_works_outside_of_a_check() -> None:
    done = sd.run(given, world_size=5)
    assert [result[0] for result in done.results] == [4.0, 0.0, 1.0, 2.0, 3.0]


def test_the_naive_one_is_a_deadlock() -> None:
    result = check("exchange", exchange.naive, quiet=True)
    assert result.criteria[0].name == "finishes"
    assert result.criteria[0].yours == "deadlock, p = 3"
    assert "The cycle: 0 -> 1 -> 2 -> 0." in result.criteria[0].lesson
    assert not result.passed
