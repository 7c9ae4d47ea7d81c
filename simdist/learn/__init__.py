"""Exercises that check themselves: you write a function, ``check`` tries it.

    from simdist.learn import check, hint

    print(exercises()[0].statement)
    check("exchange", exchange)        # one table: criterion, yours, limit
    hint("exchange")                   # three levels

``exercise``, ``case``, ``rule`` (what is asked) · ``trial``, ``limit``, ``isolation``, ``failure`` (one try) ·
``judge``, ``criterion``, ``table``, ``check`` (what is told) · ``hint`` · ``classroom`` (the machines) ·
``exercises`` · ``solutions``.
"""

from simdist.learn.catalogue import exercises as _all
from simdist.learn.check import Check, ExerciseFailed, check
from simdist.learn.criterion import Criterion
from simdist.learn.hint import hint

exercises = _all
"""All exercises."""

__all__ = ["Check", "Criterion", "ExerciseFailed", "check", "exercises", "hint"]
