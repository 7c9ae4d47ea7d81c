"""Which algorithms are there, and which one does a collective use?

A row per algorithm: its name, the collective it performs, its steps, and how many chunks the buffer is cut into.
``DEFAULT`` has one algorithm for each collective: the one that is right for large buffers on any topology.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from .binomial import binomial_broadcast, binomial_gather, binomial_reduce, binomial_scatter
from .bruck import bruck_all_gather, bruck_all_reduce, bruck_all_to_all, bruck_reduce_scatter
from .composed import (
    binomial_tree_all_reduce,
    reduce_scatter_gather_reduce,
    scatter_all_gather_broadcast,
    star_all_reduce,
)
from .dissemination import dissemination_barrier
from .double_tree import double_tree_all_reduce, double_tree_broadcast, double_tree_reduce, in_two_trees
from .halving_doubling import (
    halving_doubling_all_reduce,
    power_of_two,
    recursive_doubling_all_gather,
    recursive_halving_reduce_scatter,
)
from .layout import FLAT, Layout
from .pairwise import pairwise_all_to_all
from .pipelined_chain import as_laid_out, chain_broadcast, chain_reduce
from .recursive_doubling import recursive_doubling_all_reduce
from .ring import ring_all_gather, ring_all_reduce, ring_reduce_scatter
from .star import star_broadcast, star_gather, star_reduce, star_scatter
from .step import Step
from .torus import grid_pieces, hierarchical_all_reduce, hierarchical_pieces, torus_all_reduce

__all__ = ["ALGORITHMS", "DEFAULT", "Algorithm", "one", "per_pair", "per_rank", "plan"]

_CACHED_SIZE = 128
"""Plans of larger groups are made anew each time: a ring's tables grow with the square of the group."""


def per_pair(size: int, layout: Layout) -> int:
    """One chunk for each pair of ranks."""
    return size * size


def per_rank(size: int, layout: Layout) -> int:
    """One chunk for each rank."""
    return size


def one(size: int, layout: Layout) -> int:
    """The buffer is not cut."""
    return 1


@dataclass(frozen=True, eq=False)
class Algorithm:
    """One way to perform one collective.

    Attributes:
        name: ``"ring_all_reduce"``.
        collective: what it performs: ``"all_reduce"``.
        steps: (rank, size, root, layout) -> the steps of that rank; pure. A function that needs only the first few of
            the four takes only those.
        pieces: (size, layout) -> number of chunks into which the buffer is cut. Where the collective itself says which
            rank owns what (all-gather, reduce-scatter, gather, scatter) it is one chunk per rank.
        symmetric: True if nobody can be done before everybody has come (in each step every rank sends and receives).
        by_node: True if it has to know who shares a node.
        equal_blocks: True if all blocks of an all-to-all must have one size.
        ring: True if every rank sends to its right neighbour only, in chunks of one size where the buffer divides.
    """

    name: str
    collective: str
    steps: Callable[..., Iterator[Step]]
    pieces: Callable[[int, Layout], int] = per_rank
    symmetric: bool = False
    ring: bool = False
    equal_blocks: bool = False
    by_node: bool = False

    def __str__(self) -> str:
        return self.name


ALGORITHMS: dict[str, Algorithm] = {
    row.name: row
    for row in (
        Algorithm("ring_all_reduce", "all_reduce", ring_all_reduce, symmetric=True, ring=True),
        Algorithm("ring_reduce_scatter", "reduce_scatter", ring_reduce_scatter, symmetric=True, ring=True),
        Algorithm("ring_all_gather", "all_gather", ring_all_gather, symmetric=True, ring=True),
        Algorithm("binomial_broadcast", "broadcast", binomial_broadcast, pieces=one),
        Algorithm("binomial_reduce", "reduce", binomial_reduce, pieces=one),
        Algorithm("star_gather", "gather", star_gather),
        Algorithm("star_scatter", "scatter", star_scatter),
        Algorithm("pairwise_all_to_all", "all_to_all", pairwise_all_to_all, pieces=per_pair, symmetric=True),
        Algorithm("dissemination_barrier", "barrier", dissemination_barrier, pieces=one, symmetric=True),
        Algorithm("recursive_doubling_all_reduce", "all_reduce", recursive_doubling_all_reduce, pieces=one),
        Algorithm("halving_doubling_all_reduce", "all_reduce", halving_doubling_all_reduce, pieces=power_of_two),
        Algorithm("bruck_all_reduce", "all_reduce", bruck_all_reduce, symmetric=True),
        Algorithm("torus_all_reduce", "all_reduce", torus_all_reduce, pieces=grid_pieces, by_node=True),
        Algorithm(
            "hierarchical_all_reduce", "all_reduce", hierarchical_all_reduce, pieces=hierarchical_pieces, by_node=True
        ),
        Algorithm("double_tree_all_reduce", "all_reduce", double_tree_all_reduce, pieces=in_two_trees),
        Algorithm("binomial_tree_all_reduce", "all_reduce", binomial_tree_all_reduce, pieces=one),
        Algorithm("star_all_reduce", "all_reduce", star_all_reduce, pieces=one),
        Algorithm("bruck_reduce_scatter", "reduce_scatter", bruck_reduce_scatter, symmetric=True),
        Algorithm("recursive_halving_reduce_scatter", "reduce_scatter", recursive_halving_reduce_scatter),
        Algorithm("recursive_doubling_all_gather", "all_gather", recursive_doubling_all_gather),
        Algorithm("bruck_all_gather", "all_gather", bruck_all_gather, symmetric=True),
        Algorithm(
            "bruck_all_to_all", "all_to_all", bruck_all_to_all, pieces=per_pair, symmetric=True, equal_blocks=True
        ),
        Algorithm("scatter_all_gather_broadcast", "broadcast", scatter_all_gather_broadcast),
        Algorithm("chain_broadcast", "broadcast", chain_broadcast, pieces=as_laid_out),
        Algorithm("double_tree_broadcast", "broadcast", double_tree_broadcast, pieces=in_two_trees),
        Algorithm("star_broadcast", "broadcast", star_broadcast, pieces=one),
        Algorithm("reduce_scatter_gather_reduce", "reduce", reduce_scatter_gather_reduce),
        Algorithm("chain_reduce", "reduce", chain_reduce, pieces=as_laid_out),
        Algorithm("double_tree_reduce", "reduce", double_tree_reduce, pieces=in_two_trees),
        Algorithm("star_reduce", "reduce", star_reduce, pieces=one),
        Algorithm("binomial_gather", "gather", binomial_gather),
        Algorithm("binomial_scatter", "scatter", binomial_scatter),
    )
}

DEFAULT: dict[str, Algorithm] = {row.collective: row for row in reversed(ALGORITHMS.values())}
"""The algorithm of each collective: the first row of the table."""


@lru_cache(maxsize=256)
def _num_arguments(steps: Callable[..., Iterator[Step]]) -> int:
    """How many of (rank, size, root, layout) the function takes."""
    return len(inspect.signature(steps).parameters)


def _made(algorithm: Algorithm, rank: int, size: int, root: int, layout: Layout) -> tuple[Step, ...]:
    arguments = (rank, size, root, layout)[: _num_arguments(algorithm.steps)]
    return tuple(algorithm.steps(*arguments))


_cached = lru_cache(maxsize=4096)(_made)


def plan(algorithm: Algorithm, rank: int, size: int, root: int = 0, layout: Layout = FLAT) -> tuple[Step, ...]:
    """The steps of ``rank`` in a group of ``size`` (group ranks), as a value."""
    return (_cached if size <= _CACHED_SIZE else _made)(algorithm, rank, size, root, layout)
