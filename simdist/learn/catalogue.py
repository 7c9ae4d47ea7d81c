"""Which exercises are there?

A table of names; a file is loaded when its exercise is asked for.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from simdist.errors import UnknownNameError
from simdist.learn.exercise import Exercise

__all__ = ["NAMES", "exercises", "find"]

NAMES = (
    "exchange",
    "measure_link",
    "tree_broadcast",
    "ring_all_reduce",
    "small_all_reduce",
    "adaptive_all_reduce",
    "hierarchical_all_reduce",
    "data_parallel_step",
)
"""The names, in the order of the course."""


@cache
def _load(name: str) -> Exercise:
    found: Exercise = import_module(f"simdist.learn.exercises.{name}").EXERCISE
    return found


def find(name: str) -> Exercise:
    """The exercise of that name.

    Raises:
        UnknownNameError: no such exercise; the text names the nearest.
    """
    if name not in NAMES:
        raise UnknownNameError("exercise", name, NAMES)
    return _load(name)


def exercises() -> tuple[Exercise, ...]:
    """All exercises, in the order of the course. Each has a name, a title, a statement and a starter."""
    return tuple(map(_load, NAMES))
