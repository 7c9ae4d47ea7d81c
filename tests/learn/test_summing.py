"""Buffers from a seed, and their sum."""

from __future__ import annotations

import numpy as np

from simdist.learn import summing
from simdist.learn.case import Case
from simdist.tensor import MetaArray


def test_the_answer_is_the_sum_in_order_of_rank() -> None:
    case = Case(3, 4, 7)
    a, b, c = (summing.given(case, rank) for rank in range(3))
    assert np.array_equal(a, summing.given(case, 0))
    assert not np.array_equal(a, b)
    answers = summing.spec(case)
    assert len(answers) == 3
    assert all(np.array_equal(answer, (a + b) + c) for answer in answers)


def test_the_learners_function_works_in_place() -> None:
    def fn(x: object, rank: int, world_size: int) -> str:
        x += rank + world_size  # type: ignore[operator,misc]
        return "not looked at"

    assert summing.program(fn, np.zeros(2), Case(3, 2, 7), 1).tolist() == [4.0, 4.0]


def test_a_large_case_has_no_numbers() -> None:
    assert isinstance(summing.given(Case(2, 10, 1, is_meta=True), 0), MetaArray)


def test_the_rules_hold_everywhere() -> None:
    assert [(rule.measure, rule.everywhere) for rule in summing.RULES] == [
        ("numbers", True),
        ("agreement", True),
        ("collectives", True),
    ]
