"""Between which limits must a measure be?

A rule puts a measure (``measure``) between two limits, each a function of the case. Most rules have two sides: a program that
is faster than the fastest possible, or moves fewer bytes than any right program must, is as wrong as a slow one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simdist.learn.case import Case
from simdist.learn.measure import MEASURES

__all__ = ["Rule", "free"]

_SLACK = 1e-9
"""Relative room for the rounding of sums of times."""


def free(case: Case) -> float:
    """No lower limit."""
    return 0.0


class Rule(NamedTuple):
    """A measure between two limits.

    Attributes:
        measure: a key of ``MEASURES``.
        high: (case) -> the largest value that is right.
        low: (case) -> the smallest one.
        everywhere: it holds for every case, not only for the measured ones.
        formula: the upper limit as a formula, for the statement and the table.
    """

    measure: str
    high: Callable[[Case], float]
    low: Callable[[Case], float] = free
    everywhere: bool = False
    formula: str = ""

    def side(self, value: float, case: Case) -> int:
        """-1: too low, 0: right, 1: too high."""
        if value < self.low(case) * (1 - _SLACK):
            return -1
        return int(not value <= self.high(case) * (1 + _SLACK))

    def limit_text(self, case: Case) -> str:
        """The limits for a person: ``≤ 45.5 us``, ``= 1 MB``, ``1 MB … 1.1 MB``."""
        show = MEASURES[self.measure].show
        low, high = self.low(case), self.high(case)
        if high == 0 or low == high:
            text = f"= {show(high)}"
        else:
            text = f"{show(low)} … {show(high)}" if low else f"≤ {show(high)}"
        return text + (f" ({self.formula})" if self.formula else "")
