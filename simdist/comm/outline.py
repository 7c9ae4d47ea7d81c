"""Between whom, how often and how much does an algorithm send, told in a few lines?

Steps say everything, message by message: two million for a ring on a thousand ranks. To compare algorithms before one is
chosen it is enough to know their *phases*: rounds that are alike, in which the same pairs exchange messages of the same share
of the buffer. A ring is one phase, an exchange with ever farther partners has one for each distance. With the machines a
phase gets a time (``comm.estimate``), and on equal links the phases add up to the closed form of ``cost.closed_forms``; a test
compares every one.

Only algorithms with an outline can be chosen automatically.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from .double_tree import edges_of
from .folding import fold_pairs, largest_power, rank_at
from .layout import Layout

__all__ = ["OUTLINES", "Phase", "outline"]

Pairs = list[tuple[int, int]]


class Phase(NamedTuple):
    """Rounds that are alike.

    Attributes:
        pairs: (src, dst) of the messages of one round, group ranks; a function, since most questions do not need them.
        rounds: how many rounds.
        share: the part of the buffer that the largest message of a round carries.
        latencies: how many rounds pay their latency; None: all. (Who only sends does not wait for it.)
        per_piece: of a pipeline with m pieces: so many rounds more for each, and messages of ``share / m``.
    """

    pairs: Callable[[], Pairs]
    rounds: float
    share: float
    latencies: float | None = None
    per_piece: float = 0.0


def outline(name: str, size: int, layout: Layout) -> list[Phase]:
    """The phases of an algorithm whose root is rank 0; those of other roots are alike.

    Args:
        name: of an algorithm in ``OUTLINES``.
        size: number of ranks.
        layout: who shares a node. Pieces are left open: see ``Phase.per_piece``.
    """
    phases = OUTLINES[name](size, layout) if size > 1 else []
    return [phase for phase in phases if phase.rounds or phase.per_piece]


def _reversed(phase: Phase) -> Phase:
    return phase._replace(pairs=lambda: [(dst, src) for src, dst in phase.pairs()], latencies=None)


# -- rings and distances ----------------------------------------------------------------------------------------------


def _shift(size: int, distance: int) -> Callable[[], Pairs]:
    return lambda: [(rank, (rank + distance) % size) for rank in range(size)]


def _ring(ways: int) -> Callable[[int, Layout], list[Phase]]:
    return lambda size, layout: [Phase(_shift(size, 1), ways * (size - 1), 1 / size)]


def _powers(size: int) -> list[int]:
    """1, 2, 4 ... below ``size``."""
    return [1 << bit for bit in range((size - 1).bit_length())]


def _dissemination(size: int, layout: Layout) -> list[Phase]:
    return [Phase(_shift(size, distance), 1, 0.0) for distance in _powers(size)]


def _bruck_all_gather(size: int, layout: Layout) -> list[Phase]:
    return [Phase(_shift(size, -d), 1, min(d, size - d) / size) for d in _powers(size)]


def _bruck_reduce_scatter(size: int, layout: Layout) -> list[Phase]:
    return [_reversed(phase) for phase in _bruck_all_gather(size, layout)]


def _bruck_all_to_all(size: int, layout: Layout) -> list[Phase]:
    return [
        Phase(_shift(size, hop), 1, sum([bool(distance & hop) for distance in range(size)]) / size)
        for hop in _powers(size)
    ]


def _pairwise(size: int, layout: Layout) -> list[Phase]:
    """Distances d to 2 d - 1 count as d: all of them would be p (p - 1) pairs."""
    return [Phase(_shift(size, d), min(d, size - d), 1 / size) for d in _powers(size)]


# -- exchanges with a partner -----------------------------------------------------------------------------------------


def _folds(size: int, share: float) -> list[Phase]:
    return [Phase(partial(fold_pairs, size), 1, share)] if size != largest_power(size) else []


def _partners(size: int, distance: int) -> Callable[[], Pairs]:
    places = range(largest_power(size))
    return lambda: [(rank_at(place, size), rank_at(place ^ distance, size)) for place in places]


def _recursive_doubling(size: int, layout: Layout) -> list[Phase]:
    before = _folds(size, 1.0)
    inner = [Phase(_partners(size, distance), 1, 1.0) for distance in _powers(largest_power(size))]
    return [*before, *inner, *map(_reversed, before)]


def _halving_doubling(size: int, layout: Layout) -> list[Phase]:
    active, before = largest_power(size), _folds(size, 1.0)
    inner = [Phase(_partners(size, distance), 2, distance / active) for distance in _powers(active)]
    return [*before, *inner, *map(_reversed, before)]


def _halves(before: Callable[[int], float], after: Callable[[int], float]) -> Callable[[int, Layout], list[Phase]]:
    """One half of it as a collective of its own; a rank that is folded in gives and gets these shares of the buffer."""

    def phases(size: int, layout: Layout) -> list[Phase]:
        active = largest_power(size)
        extra = size - active
        inner = [Phase(_partners(size, d), 1, (d + min(d, extra)) / size) for d in _powers(active)]
        return [*_folds(size, before(size)), *inner, *map(_reversed, _folds(size, after(size)))]

    return phases


# -- trees and stars --------------------------------------------------------------------------------------------------


def _tree(bit: int, size: int) -> Callable[[], Pairs]:
    """Edges of a binomial tree, parent first, whose ends are ``bit`` apart."""
    return lambda: [(rank, rank + bit) for rank in range(0, size - bit, 2 * bit)]


def _down(share: Callable[[int, int], float]) -> Callable[[int, Layout], list[Phase]]:
    def phases(size: int, layout: Layout) -> list[Phase]:
        *rest, last = [Phase(_tree(bit, size), 1, share(bit, size)) for bit in reversed(_powers(size))]
        if size != largest_power(size):  # no way has a hop in every round; it may be the shortest that is missing
            last = last._replace(latencies=0)
        return [*rest, last]

    return phases


def _up(share: Callable[[int, int], float]) -> Callable[[int, Layout], list[Phase]]:
    down = _down(share)
    return lambda size, layout: [_reversed(phase) for phase in reversed(down(size, layout))]


def _whole(bit: int, size: int) -> float:
    return 1.0


def _subtree(bit: int, size: int) -> float:
    return min(bit, size - bit) / size


def _only(rank: int) -> Pairs:
    return [(0, rank)]


def _from_root(share: float | None) -> Callable[[int, Layout], list[Phase]]:
    """The root sends to one after the other, and each message has left when the next one goes."""

    def phases(size: int, layout: Layout) -> list[Phase]:
        part = 1 / size if share is None else share
        return [Phase(partial(_only, rank), 1, part, rank == size - 1) for rank in range(1, size)]

    return phases


def _to_root(share: float | None) -> Callable[[int, Layout], list[Phase]]:
    down = _from_root(share)
    return lambda size, layout: [_reversed(phase) for phase in down(size, layout)]


def _chain(size: int, layout: Layout) -> list[Phase]:
    return [Phase(lambda: list(pairwise(range(size))), size - 2, 1.0, per_piece=1)]


def _two_trees(size: int, layout: Layout) -> list[Phase]:
    depth = 2 * (size - 1).bit_length() - 1 + (size % 4 == 3 or size == largest_power(size))
    return [Phase(partial(edges_of, size, colour), depth / 2 - 1, 0.5, per_piece=1) for colour in (0, 1)]


def _two_trees_up(size: int, layout: Layout) -> list[Phase]:
    return [_reversed(phase) for phase in _two_trees(size, layout)]


# -- grids ------------------------------------------------------------------------------------------------------------


def _rings(groups: list[tuple[int, ...]]) -> Callable[[], Pairs]:
    return lambda: [pair for ranks in groups for pair in zip(ranks, ranks[1:] + ranks[:1], strict=True)]


def _grid(rows: tuple[tuple[int, ...], ...]) -> list[Phase]:
    columns = list(zip(*rows, strict=True))
    width, depth = len(columns), len(rows)
    along = Phase(_rings(list(rows)), 2 * (width - 1), 1 / width)
    return [along, Phase(_rings(columns), 2 * (depth - 1), 1 / (width * depth))]


def _torus(size: int, layout: Layout) -> list[Phase]:
    return _grid(layout.rows(size))


def _hierarchical(size: int, layout: Layout) -> list[Phase]:
    nodes = layout.nodes or (tuple(range(size)),)
    if len(set(map(len, nodes))) == 1:
        return _grid(nodes)
    largest, leaders = max(map(len, nodes)), [node[0] for node in nodes]

    def inside(pairs: Callable[[], Pairs]) -> Callable[[], Pairs]:
        return lambda: [(node[a], node[b]) for node in nodes for a, b in pairs() if max(a, b) < len(node)]

    trees = [*_up(_whole)(largest, layout), *_down(_whole)(largest, layout)]
    told = [phase._replace(pairs=inside(phase.pairs)) for phase in trees]
    between = Phase(_rings([tuple(leaders)]), 2 * (len(nodes) - 1), 1 / len(nodes))
    return [*told[: len(told) // 2], between, *told[len(told) // 2 :]]


def _both(*parts: Callable[[int, Layout], list[Phase]]) -> Callable[[int, Layout], list[Phase]]:
    return lambda size, layout: [phase for part in parts for phase in part(size, layout)]


OUTLINES: dict[str, Callable[[int, Layout], list[Phase]]] = {
    "ring_all_reduce": _ring(2),
    "recursive_doubling_all_reduce": _recursive_doubling,
    "halving_doubling_all_reduce": _halving_doubling,
    "bruck_all_reduce": _both(_bruck_reduce_scatter, _bruck_all_gather),
    "torus_all_reduce": _torus,
    "hierarchical_all_reduce": _hierarchical,
    "double_tree_all_reduce": _both(_two_trees_up, _two_trees),
    "binomial_tree_all_reduce": _both(_up(_whole), _down(_whole)),
    "star_all_reduce": _both(_to_root(1.0), _from_root(1.0)),
    "ring_reduce_scatter": _ring(1),
    "bruck_reduce_scatter": _bruck_reduce_scatter,
    "recursive_halving_reduce_scatter": _halves(lambda p: 1.0, lambda p: 1 / p),
    "ring_all_gather": _ring(1),
    "recursive_doubling_all_gather": _halves(lambda p: 1 / p, lambda p: (p - 1) / p),
    "bruck_all_gather": _bruck_all_gather,
    "binomial_broadcast": _down(_whole),
    "scatter_all_gather_broadcast": _both(_down(_subtree), _ring(1)),
    "chain_broadcast": _chain,
    "double_tree_broadcast": _two_trees,
    "star_broadcast": _from_root(1.0),
    "binomial_reduce": _up(_whole),
    "reduce_scatter_gather_reduce": _both(_ring(1), _up(_subtree)),
    "chain_reduce": lambda size, layout: [_reversed(phase) for phase in _chain(size, layout)],
    "double_tree_reduce": _two_trees_up,
    "star_reduce": _to_root(1.0),
    "star_gather": _to_root(None),
    "binomial_gather": _up(_subtree),
    "star_scatter": _from_root(None),
    "binomial_scatter": _down(_subtree),
    "pairwise_all_to_all": _pairwise,
    "bruck_all_to_all": _bruck_all_to_all,
    "dissemination_barrier": _dissemination,
}
"""Algorithm -> (size, layout) -> its phases, for two ranks and more."""
