"""What is a program of the conformance suite?

A function of (rank, world size) that gives arrays, numbers and texts; what it gives depends on nothing but the two. Or a
mistake: a function that no backend may let through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Mistake", "Program", "numbers"]


@dataclass(frozen=True)
class Program:
    """Something that must give the same on every backend.

    Attributes:
        name: what it is about.
        fn: (rank, world size) -> results.
        options: further arguments of ``sd.run``.
        least: it makes sense from this number of ranks on.
    """

    name: str
    fn: Callable[[int, int], Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    least: int = 1


@dataclass(frozen=True)
class Mistake:
    """Something that must be refused on every backend.

    Attributes:
        name: what it is about.
        fn: (rank, world size) -> nothing: it must not come to its end on all ranks.
        raises: the error must be of one of these classes.
        says: patterns (of ``re.search``) that must be in its text or its notes.
        options: further arguments of ``sd.run``.
        least: it makes sense from this number of ranks on.
    """

    name: str
    fn: Callable[[int, int], Any]
    raises: tuple[type[BaseException], ...]
    says: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    least: int = 2


def numbers(rank: int, length: int, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Numbers that differ from rank to rank; adding them in another order shows in the last bits of floats.

    Args:
        rank: whose.
        length: how many.
        dtype: of any kind.
    """
    kind = np.dtype(dtype).kind
    normal = np.random.default_rng([rank, length]).standard_normal(length)
    if kind == "c":
        return (normal + 1j * normal[::-1]).astype(dtype)
    if kind == "b":
        return normal > 0
    return (normal if kind == "f" else np.abs(50 * normal)).astype(dtype)
