"""Which criteria does a learner's function meet?

Trials go in, rows of the table come out. First whether the function came to its end on every case, then each rule
of the exercise, last (and only if everything before it is met) whether it gives the same bytes on real processes,
where ranks share nothing. (What measures times finds others there: it must only come to its end.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simdist.learn.case import Case
from simdist.learn.criterion import Criterion
from simdist.learn.exercise import Exercise
from simdist.learn.measure import MEASURES
from simdist.learn.rule import Rule
from simdist.learn.trial import Trial

__all__ = ["finishes", "isolated", "measured", "real_case"]

_ISOLATED = (
    "Right in simulation, wrong on real processes: does data pass between ranks through anything but messages "
    "(a variable of a module, an object of another rank)? On a cluster nothing is shared."
)


def finishes(exercise: Exercise, trials: Sequence[Trial]) -> Criterion:
    """Whether every trial came to its end.

    Args:
        exercise: for the world sizes.
        trials: those that were made; the last one may have failed.
    """
    sizes = ", ".join(map(str, sorted({case.world_size for case in exercise.cases})))
    failed = next((trial for trial in trials if trial.failure is not None), None)
    if failed is None or failed.failure is None:
        return Criterion("finishes", "yes", f"p = {sizes}", True)
    word, lesson, is_attempted = failed.failure
    return Criterion(
        "finishes", f"{word}, p = {failed.case.world_size}" if is_attempted else word, f"p = {sizes}", False, lesson
    )


def measured(rule: Rule, exercise: Exercise, trials: Sequence[Trial]) -> Criterion:
    """One rule over all cases that it holds for: the first value outside the limits counts, or else the first case's largest."""
    measure = MEASURES[rule.measure]
    cases = [case for case in exercise.cases if case.measured or rule.everywhere]
    ended = [trial for trial in trials if trial.run is not None and trial.case in cases]
    for trial in ended:
        for rank, value in enumerate(measure.values(trial)):
            side = rule.side(value, trial.case)
            if side:
                lesson = measure.too_low if side < 0 else measure.too_high
                if math.isinf(value):
                    lesson = _other_kind(trial, rank)
                yours = f"{measure.show(value)}, {_told_apart(trial.case, cases)}"
                return Criterion(measure.what, yours, rule.limit_text(trial.case), False, lesson)
    limit = rule.limit_text(cases[0])
    if not ended:
        return Criterion(measure.what, "", limit, None)
    first = ended[0]
    yours = measure.show(max(measure.values(first)))
    return Criterion(measure.what, yours, rule.limit_text(first.case), True if len(ended) == len(cases) else None)


def _told_apart(case: Case, cases: Sequence[Case]) -> str:
    """Which case it was: its p, and its n where others have the same p and another n."""
    alike = {other.nbytes for other in cases if other.world_size == case.world_size}
    return str(case) if len(alike) > 1 else f"p = {case.world_size}"


def _other_kind(trial: Trial, rank: int) -> str:
    """What a rank ended with, where it cannot even be compared with what it should."""

    def kind(value: Any) -> str:
        array = np.asarray(value)
        return "None" if value is None else f"{array.dtype} {array.shape}"

    got, expected = trial.results[rank], trial.expected[rank]
    if kind(got) == kind(expected):
        return f"{trial.case}: rank {rank} ended with NaN: was a buffer read before anything arrived in it?"
    return f"{trial.case}: rank {rank} ended with {kind(got)}, expected {kind(expected)}."


def real_case(exercise: Exercise) -> Case:
    """The case that is run on real processes: a small one with few ranks, but more than one."""
    few = [case for case in exercise.cases if 2 <= case.world_size <= 3]
    return min(few, key=lambda case: (case.size, case.world_size))


def isolated(case: Case, simulated: Trial | None, real: Trial | None, is_timed: bool = False) -> Criterion:
    """Whether the function gives on real processes the bytes that it gave in simulation.

    Args:
        case: the case of both trials.
        simulated: the trial on simulated ranks.
        real: the one on real processes, or None if it was not reached.
        is_timed: its result is measured: other bytes are right, another shape is not.
    """
    name, limit = "same on real processes", f"same bytes, p = {case.world_size}"
    if is_timed:
        name, limit = "works on real processes", f"p = {case.world_size}"
    if simulated is None or real is None:
        return Criterion(name, "", limit, None)
    if real.failure is not None:
        return Criterion(name, real.failure.word, limit, False, f"{_ISOLATED}\n{real.failure.lesson}")
    pairs = zip(simulated.results, real.results, strict=True)
    if is_timed:
        works = all(np.shape(a) == np.shape(b) for a, b in pairs)
        return Criterion(name, "yes" if works else "another shape", limit, works, "" if works else _ISOLATED)
    same = all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)
    return Criterion(name, "yes" if same else "other bytes", limit, same, "" if same else _ISOLATED)
