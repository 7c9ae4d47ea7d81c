"""Exercises that check themselves: you write a function, ``check`` tries it.

    from simdist.learn import check, exercises, hint

    print(exercises()[0].statement)
    check("exchange", exchange)        # one table: criterion, yours, limit
    hint("exchange")                   # three levels

``exercise``, ``case``, ``rule`` (what is asked) · ``trial``, ``limit``, ``isolation``, ``failure`` (one try) · ``judge``,
``criterion``, ``table``, ``check`` (what is told) · ``hint`` · ``catalogue`` · ``classroom`` (the machines) · ``exercises`` ·
``solutions``.
"""

# The package of the exercises' files is loaded first: loading it later would put it in the place of the function of that name.
from simdist.learn import exercises as _files
from simdist.learn.catalogue import exercises
from simdist.learn.check import Check, ExerciseFailed, check
from simdist.learn.criterion import Criterion
from simdist.learn.hint import hint

__all__ = ["Check", "Criterion", "ExerciseFailed", "check", "exercises", "hint"]

del _files
