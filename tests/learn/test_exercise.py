from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from simdist.learn import exercises
from simdist.learn.catalogue import find
from simdist.learn.exercise import Exercise
from simdist.learn.measure import MEASURES

ALL = [pytest.param(exercise, id=exercise.name) for exercise in exercises()]


@pytest.mark.parametrize("exercise", ALL)
def test_an_exercise_is_complete(exercise: Exercise) -> None:
    assert exercise.title
    assert len(exercise.hints) == len(set(exercise.hints)) == 3
    assert all(rule.measure in MEASURES for rule in exercise.rules)
    assert any(2 <= case.world_size <= 3 for case in exercise.cases), "one is run on real processes"
    assert len({case.seed for case in exercise.cases}) == len(exercise.cases)


@pytest.mark.parametrize("exercise", ALL)
def test_the_statement_names_the_signature_of_the_starter(exercise: Exercise) -> None:
    function = next(node for node in ast.parse(exercise.starter).body if isinstance(node, ast.FunctionDef))
    assert function.name == exercise.name
    assert f"{exercise.name}({', '.join(a.arg for a in function.args.args)}) ->" in exercise.statement


@pytest.mark.parametrize("exercise", ALL)
def test_the_solutions_have_the_signature_of_the_starter(exercise: Exercise) -> None:
    function = next(node for node in ast.parse(exercise.starter).body if isinstance(node, ast.FunctionDef))
    names = [a.arg for a in function.args.args]
    solutions = import_module(f"simdist.learn.solutions.{exercise.name}")
    for solution in (solutions.reference, solutions.naive):
        assert list(inspect.signature(solution).parameters) == names


def parts(inputs: Any) -> tuple[Any, ...]:
    return inputs if isinstance(inputs, tuple) else (inputs,)


@pytest.mark.parametrize("exercise", ALL)
def test_the_inputs_follow_from_the_seed_alone(exercise: Exercise) -> None:
    case = exercise.cases[-1]
    for rank in range(case.world_size):
        for a, b in zip(parts(exercise.given(case, rank)), parts(exercise.given(case, rank)), strict=True):
            assert np.array_equal(a, b)
    other = replace(case, seed=case.seed + 1000)
    assert not np.array_equal(parts(exercise.given(case, 0))[0], parts(exercise.given(other, 0))[0])


@pytest.mark.parametrize("exercise", ALL)
def test_limits_leave_room(exercise: Exercise) -> None:
    for rule in exercise.rules:
        for case in exercise.cases:
            if case.measured or rule.everywhere:
                assert 0 <= rule.low(case) <= rule.high(case)


def test_the_first_case_is_measured() -> None:
    exercise = find("ring_all_reduce")
    with pytest.raises(AssertionError, match="drawn and measured"):
        replace(exercise, cases=exercise.cases[1:])
