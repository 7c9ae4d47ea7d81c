from __future__ import annotations

import math

import pytest

from simdist.learn.case import Case
from simdist.learn.rule import Rule, free

CASE = Case(3, 4, 1, measured=True, scale=10)


def test_a_rule_has_two_sides() -> None:
    rule = Rule("sent", lambda case: 200.0, lambda case: 100.0)
    assert [rule.side(value, CASE) for value in (99.0, 100.0, 150.0, 200.0, 201.0)] == [-1, 0, 0, 0, 1]


def test_rounding_is_no_violation() -> None:
    rule = Rule("time", lambda case: 0.3, lambda case: 0.3)
    assert rule.side(0.1 + 0.2, CASE) == 0


def test_nothing_is_below_no_limit_and_infinity_is_too_high() -> None:
    rule = Rule("numbers", lambda case: 1e-12)
    assert free(CASE) == 0.0
    assert rule.side(0.0, CASE) == 0
    assert rule.side(math.inf, CASE) == 1
    assert rule.side(math.nan, CASE) == 1


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Rule("sent", lambda case: 2000.0, lambda case: 2000.0, formula="n"), "= 2 kB (n)"),
        (Rule("sent", lambda case: 2000.0, lambda case: 1000.0), "1 kB … 2 kB"),
        (Rule("time", lambda case: 1e-3), "≤ 1 ms"),
        (Rule("agreement", lambda case: 0.0), "= 0"),
        (Rule("numbers", lambda case: 1e-12), "≤ 1.0e-12"),
    ],
)
def test_the_text_of_a_limit(rule: Rule, text: str) -> None:
    assert rule.limit_text(CASE) == text
