from __future__ import annotations

from simdist.learn import check
from simdist.learn.solutions import data_parallel_step


def test_the_reference_passes() -> None:
    result = check("data_parallel_step", data_parallel_step.reference, quiet=True)
    assert result.passed, str(result)


def test_the_reference_is_faster_than_serial_training() -> None:
    from simdist.learn.exercises.data_parallel_step import EXERCISE, serial

    run = check("data_parallel_step", data_parallel_step.reference, quiet=True).run
    assert run is not None
    assert 5.0 < serial(EXERCISE.cases[0])[1] / run.time < 8.0


def test_the_naive_one_weighs_the_rows_of_the_last_share_too_much() -> None:
    result = check("data_parallel_step", data_parallel_step.naive, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == ["numbers equal the spec's"]
    assert "slow, obvious program" in str(result)
