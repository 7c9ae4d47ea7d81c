"""What have the exercises in common in which every rank's buffer becomes the sum of all?

The buffers, from the case's seed; the right answer, added up in order of rank; how the learner's function is called; and the
rules about numbers that hold whatever the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simdist.tensor import MetaArray

from .case import Case
from .rule import Rule

__all__ = ["RULES", "given", "program", "spec"]


def given(case: Case, rank: int) -> Any:
    """The buffer of a rank: float64 (size,); without numbers if the case has none."""
    if case.is_meta:
        return MetaArray((case.size,), np.float64)
    return np.random.default_rng([case.seed, rank]).standard_normal(case.size)


def spec(case: Case) -> list[Any]:
    """The sum over all ranks, in order of rank, once for each rank."""
    total = given(case, 0)
    for rank in range(1, case.world_size):
        total = total + given(case, rank)
    return [total] * case.world_size


def program(fn: Callable[..., Any], x: Any, case: Case, rank: int) -> Any:
    """Call the learner's function once; the result is what it left in the buffer."""
    fn(x, rank, case.world_size)
    return x


RULES = (
    Rule("numbers", lambda _: 1e-12, everywhere=True),
    Rule("agreement", lambda _: 0.0, everywhere=True),
    Rule("collectives", lambda _: 0.0, everywhere=True),
)
"""The right numbers, the same bits on all ranks, and no collective of the library's."""
