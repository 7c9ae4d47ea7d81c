from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simdist.learn.case import Case
from simdist.learn.exercise import Exercise
from simdist.learn.failure import Failure
from simdist.learn.isolation import by_value
from simdist.learn.judge import finishes, isolated, measured, real_case
from simdist.learn.rule import Rule
from simdist.learn.trial import Trial, attempt

CASES = (Case(4, 3, 1, measured=True), Case(2, 5, 2), Case(3, 4, 3))


def given(case: Case, rank: int) -> Any:
    return np.full(case.size, float(rank))


def spec(case: Case) -> Sequence[Any]:
    return [given(case, rank) for rank in range(case.world_size)]


def program(fn: Any, x: Any, case: Case, rank: int) -> Any:
    return fn(x, rank, case.world_size)


NUMBERS = Rule("numbers", lambda case: 1e-12, everywhere=True)
SENT = Rule("sent", lambda case: 8.0, lambda case: 4.0)
EXERCISE = Exercise("probe", "t", "s", "x", ("1", "2", "3"), CASES, given, spec, program, (NUMBERS, SENT))


def tried(fn: Any, cases: Sequence[Case] = CASES) -> list[Trial]:
    packed = by_value(fn)
    return [attempt("probe", packed, program, given, case, spec(case)) for case in cases]


def same(x: Any, rank: int, world_size: int) -> Any:
    return x


def test_all_cases_end() -> None:
    assert finishes(EXERCISE, tried(same))[:4] == ("finishes", "yes", "p = 2, 3, 4", True)


def test_one_does_not() -> None:
    failed = Trial(CASES[1], None, Failure("deadlock", "who waits for whom"), ())
    row = finishes(EXERCISE, [*tried(same, CASES[:1]), failed])
    assert row == ("finishes", "deadlock, p = 2", "p = 2, 3, 4", False, "who waits for whom")


def test_not_attempted_has_no_case() -> None:
    failed = Trial(CASES[0], None, Failure("not attempted", "the hole", False), ())
    assert finishes(EXERCISE, [failed]).yours == "not attempted"


def test_a_rule_that_is_met() -> None:
    assert measured(NUMBERS, EXERCISE, tried(same))[:4] == ("numbers equal the spec's", "0", "≤ 1.0e-12", True)


def test_a_rule_that_one_case_breaks_names_it() -> None:
    row = measured(NUMBERS, EXERCISE, tried(lambda x, rank, p: x + (p == 3)))
    assert row.met is False
    assert row.yours == "1.0e+00, p = 3"
    assert "slow, obvious program" in row.lesson


@pytest.mark.parametrize(
    ("fn", "lesson"),
    [
        (lambda x, rank, p: None, "p = 4: rank 0 ended with None, expected float64 (3,)."),
        (lambda x, rank, p: x.astype(np.float32), "p = 4: rank 0 ended with float32 (3,), expected float64 (3,)."),
        (lambda x, rank, p: x[rank:], "p = 4: rank 1 ended with float64 (2,), expected float64 (3,)."),
        (
            lambda x, rank, p: x * np.nan,
            "p = 4: rank 0 ended with NaN: was a buffer read before anything arrived in it?",
        ),
    ],
)
def test_what_cannot_be_compared_is_described(fn: Any, lesson: str) -> None:
    row = measured(NUMBERS, EXERCISE, tried(fn))
    assert row.yours.startswith("not these")
    assert row.lesson == lesson


def test_one_that_breaks_among_sizes_names_its_size() -> None:
    cases = (Case(2, 1, 1, measured=True, nbytes=8), Case(2, 2, 2, measured=True, nbytes=16))
    exercise = replace(EXERCISE, cases=cases)
    row = measured(NUMBERS, exercise, tried(lambda x, rank, p: x + (len(x) == 2), cases))
    assert row.yours == "1.0e+00, p = 2, n = 16 B"


def test_moving_too_little_is_wrong() -> None:
    row = measured(SENT, EXERCISE, tried(same))
    assert row[:4] == ("bytes sent by a rank", "0 B, p = 4", "4 B … 8 B", False)
    assert row.lesson == "Moves too little: a rank sends fewer bytes than any right program must."


def test_a_rule_without_a_trial_is_not_reached() -> None:
    row = measured(NUMBERS, EXERCISE, [Trial(CASES[0], None, Failure("deadlock", ""), ())])
    assert row[:4] == ("numbers equal the spec's", "", "≤ 1.0e-12", None)


def test_a_rule_is_met_only_if_all_its_cases_ended() -> None:
    row = measured(NUMBERS, EXERCISE, tried(same, CASES[:2]))
    assert (row.yours, row.met) == ("0", None)


def test_the_real_case_is_small_and_has_several_ranks() -> None:
    assert real_case(EXERCISE) == CASES[2]


def test_equal_bytes_on_real_processes() -> None:
    (trial,) = tried(same, CASES[1:2])
    (other,) = tried(lambda x, rank, p: x + 1e-16 + rank, CASES[1:2])
    name, limit = "same on real processes", "same bytes, p = 2"
    assert isolated(CASES[1], trial, trial)[:4] == (name, "yes", limit, True)
    assert isolated(CASES[1], trial, None)[:4] == (name, "", limit, None)
    row = isolated(CASES[1], trial, other)
    assert row[:4] == (name, "other bytes", limit, False)
    assert "does data pass between ranks through anything but messages" in row.lesson


def test_measured_times_differ_on_real_processes_and_have_the_same_shape() -> None:
    (trial,) = tried(same, CASES[1:2])
    (other,) = tried(lambda x, rank, p: x + 1 + rank, CASES[1:2])
    (longer,) = tried(lambda x, rank, p: x[1:], CASES[1:2])
    name, limit = "works on real processes", "p = 2"
    assert isolated(CASES[1], trial, other, is_timed=True)[:4] == (name, "yes", limit, True)
    assert isolated(CASES[1], trial, longer, is_timed=True)[:4] == (name, "another shape", limit, False)
    assert isolated(CASES[1], trial, None, is_timed=True)[:4] == (name, "", limit, None)


def test_a_failure_on_real_processes_only() -> None:
    (trial,) = tried(same, CASES[1:2])
    row = isolated(CASES[1], trial, Trial(CASES[1], None, Failure("KeyError", "KeyError: 1"), ()))
    assert (row.yours, row.met) == ("KeyError", False)
    assert row.lesson.endswith("\nKeyError: 1")
