from __future__ import annotations

import pytest

import simdist as sd
from simdist.learn import check
from simdist.learn.classroom import classroom
from simdist.learn.exercises.measure_link import EXERCISE, machines, program
from simdist.learn.solutions import measure_link


def test_the_reference_passes() -> None:
    result = check("measure_link", measure_link.reference, quiet=True)
    assert result.passed, str(result)
    assert [row.name for row in result.criteria if row.name.endswith("real processes")] == ["works on real processes"]


def test_the_reference_works_outside_of_a_check() -> None:
    found = sd.run(measure_link.reference, world_size=2, cluster=classroom(2)).results[0]
    assert found == pytest.approx((5e-6, 25e9), rel=1e-9)


@pytest.mark.parametrize("index", range(len(EXERCISE.cases)))
def test_the_naive_one_fails_on_each_link(index: int) -> None:
    case = EXERCISE.cases[index]
    alpha, bandwidth = EXERCISE.given(case, 0)

    def run(rank: int, world_size: int) -> object:
        return program(measure_link.naive, None, case, rank)

    measured = sd.run(run, world_size=2, cluster=machines(case)).results[0]
    assert measured[0] > 2 * alpha
    assert measured[1] < bandwidth / 1.01


def test_the_naive_ones_table_says_what_is_wrong() -> None:
    result = check("measure_link", measure_link.naive, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == ["error of α", "error of B"]
    told = " ".join(str(result).split())
    assert "A first message waits for it." in told
    assert "B is not n / t: α is in t as well." in told
