"""Which algorithms are there, and which one does a collective use?

A row per algorithm: its name, the collective it performs, its steps, and how many chunks the buffer is cut into. The
choice by size and topology is a later chapter; here each collective has the one algorithm of ``DEFAULT``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from .binomial import binomial_broadcast, binomial_reduce
from .dissemination import dissemination_barrier
from .ring import ring_all_gather, ring_all_reduce, ring_reduce_scatter
from .star import star_gather, star_scatter
from .step import Step

__all__ = ["ALGORITHMS", "DEFAULT", "Algorithm", "plan"]

_CACHED_SIZE = 128
"""Plans of larger groups are made anew each time: a ring's tables grow with the square of the group."""


@dataclass(frozen=True)
class Algorithm:
    """One way to perform one collective.

    Attributes:
        name: ``"ring_all_reduce"``.
        collective: what it performs: ``"all_reduce"``.
        steps: (rank, size, root) -> the steps of that rank; pure.
        whole: True if the buffer moves as one chunk (trees), False if it is cut into one chunk per rank.
        symmetric: True if nobody can be done before everybody has come (in each step every rank sends and receives).
        ring: True if every rank sends to its right neighbour only, in chunks of one size where the buffer divides.
    """

    name: str
    collective: str
    steps: Callable[[int, int, int], Iterator[Step]]
    whole: bool = False
    symmetric: bool = False
    ring: bool = False


ALGORITHMS: dict[str, Algorithm] = {
    row.name: row
    for row in (
        Algorithm("ring_all_reduce", "all_reduce", ring_all_reduce, symmetric=True, ring=True),
        Algorithm("ring_reduce_scatter", "reduce_scatter", ring_reduce_scatter, symmetric=True, ring=True),
        Algorithm("ring_all_gather", "all_gather", ring_all_gather, symmetric=True, ring=True),
        Algorithm("binomial_broadcast", "broadcast", binomial_broadcast, whole=True),
        Algorithm("binomial_reduce", "reduce", binomial_reduce, whole=True),
        Algorithm("star_gather", "gather", star_gather),
        Algorithm("star_scatter", "scatter", star_scatter),
        Algorithm("dissemination_barrier", "barrier", dissemination_barrier, whole=True, symmetric=True),
    )
}

DEFAULT: dict[str, Algorithm] = {row.collective: row for row in ALGORITHMS.values()}
"""The algorithm of each collective."""


@lru_cache(maxsize=4096)
def _cached(algorithm: Algorithm, rank: int, size: int, root: int) -> tuple[Step, ...]:
    return tuple(algorithm.steps(rank, size, root))


def plan(algorithm: Algorithm, rank: int, size: int, root: int = 0) -> tuple[Step, ...]:
    """The steps of ``rank`` in a group of ``size`` (group ranks), as a value."""
    if size <= _CACHED_SIZE:
        return _cached(algorithm, rank, size, root)
    return tuple(algorithm.steps(rank, size, root))
