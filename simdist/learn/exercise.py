"""What is an exercise?

A description, made of values and pure functions: the statement, the inputs of a case, the slow and obvious ``spec``
that says what is right, the program that calls the learner's function inside a rank, the rules that it is measured
by, three hints, a starter with a hole. The checker knows nothing about any particular exercise, and an exercise
knows nothing about the checker.

There is no secret code: the cases that a learner does not see are other parameters of the same public rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from simdist.cluster import Cluster
from simdist.learn import classroom
from simdist.learn.case import Case
from simdist.learn.rule import Rule

__all__ = ["Exercise"]


def _classroom(case: Case) -> Cluster:
    return classroom.classroom(case.world_size, case.scale)


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes:
        name: how ``check`` and ``hint`` know it; the learner's function is called the same.
        title: one line.
        statement: what to do, with the signature, the numbers and the rules.
        starter: source text with a hole, to begin with.
        hints: three: a question, the idea, nearly the solution.
        cases: the first is the one that is drawn.
        given: (case, rank) -> what the rank starts from.
        spec: (case) -> what each rank must end with, by rank; slow and obvious.
        program: (fn, given, case, rank) -> result; runs inside a rank and calls the learner's ``fn``.
        rules: what is measured, and the limits.
        machines: (case) -> the cluster that it runs on; the classroom's if nothing else is said.
        about: the machines' numbers, for the table's heading.
        is_timed: the result is a time that somebody measured: on real processes it is another one, but there must be one.
    """

    name: str
    title: str
    statement: str
    starter: str
    hints: tuple[str, str, str]
    cases: tuple[Case, ...]
    given: Callable[[Case, int], Any]
    spec: Callable[[Case], Sequence[Any]]
    program: Callable[[Callable[..., Any], Any, Case, int], Any]
    rules: tuple[Rule, ...]
    machines: Callable[[Case], Cluster] = _classroom
    about: str = classroom.about()
    is_timed: bool = False

    def __post_init__(self) -> None:
        assert self.cases[0].measured, "the first case is the one that is drawn and measured"
