"""How long does each algorithm take here, to the last bit of its latencies?

``cost.collectives`` has the textbook's formulas, in which every message costs alpha + n beta to both of its ends. On the
simulated network a sender goes on when its last byte has left, and the receiver one latency later. So a root that sends to
everybody pays one latency and not p - 1, a binomial broadcast pays floor(log2 p) of them (the longest way has as many hops as
a number below p has bits), and with p no power of two chunks are not of one size. These are the forms of the algorithms as
they run here, one row for each name of ``comm.algorithm``:

    seconds = latencies(shape) * alpha + volume(shape) * n * beta

on p ranks that start together on an idle network with equal links, where n, the whole buffer, divides into the chunks. A test
compares every row with the simulator's timetable to 1e-12. Three rows with ``exact=False`` state every round with its latency,
where a rank that only sends, or sends more than it receives, need not wait for it: the simulator is faster by at most
ceil(log2 p) latencies, and equal without latencies.

Sources: that of the algorithm, in its module in ``comm``; the forms follow from its steps, as each comment says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simdist.errors import UnknownNameError

from .collectives import log2_ceil

__all__ = ["CLOSED_FORMS", "ClosedForm", "Shape", "seconds"]


class Shape(NamedTuple):
    """Of what an algorithm's number of rounds is a function.

    Attributes:
        p: number of ranks.
        columns: ranks in a row of the grid, or in the largest node.
        rows: number of rows, or of nodes. ``columns * rows == p`` if all are alike.
        pieces: m, into how many pieces a pipelined algorithm cuts the buffer (of each of two trees).
    """

    p: int
    columns: int = 1
    rows: int = 1
    pieces: int = 1


class ClosedForm(NamedTuple):
    """One row.

    Attributes:
        latencies: how often alpha is paid.
        volume: how often n beta is paid.
        text: the same for a person.
        exact: False if a few latencies less are possible.
    """

    latencies: Callable[[Shape], float]
    volume: Callable[[Shape], float]
    text: str
    exact: bool = True


def _log2_floor(p: int) -> int:
    return p.bit_length() - 1


def _power(p: int) -> int:
    """The largest power of two that is at most p."""
    return 1 << _log2_floor(p)


def _folded(p: int) -> bool:
    """Whether some ranks have to be folded in: two more messages on the longest way."""
    return p != _power(p)


def _share(p: int) -> float:
    return (p - 1) / p


def _blocks(p: int) -> float:
    """Exchanges of blocks of 1, 2, 4 ... places, of which the first p - q stand for two chunks each (q: the power below p)."""
    extra, length, chunks = p - _power(p), 1, 0
    while length < _power(p):
        chunks += length + min(length, extra)
        length *= 2
    return chunks / p


def _bits(p: int) -> float:
    """In how many rounds of Bruck's all-to-all a block moves, added up over the distances 1 to p - 1, per p."""
    return sum([distance.bit_count() for distance in range(1, p)]) / p


def _chain(s: Shape) -> int:
    """The first piece needs p - 1 hops, then one arrives in each round."""
    return s.p - 2 + s.pieces if s.p > 1 else 0


def _two_trees(s: Shape) -> int:
    """Piece 0 of both trees is everywhere after d rounds, the others two rounds after each other (``comm.double_tree``)."""
    depth = 2 * log2_ceil(s.p) - 1 + (s.p % 4 == 3 or not _folded(s.p))
    return 2 * s.pieces - 2 + depth if s.p > 1 else 0


def _grid_latencies(s: Shape) -> int:
    return 2 * (s.columns - 1) + 2 * (s.rows - 1)


def _grid_volume(s: Shape) -> float:
    return 2 * _share(s.columns) + 2 * _share(s.rows) / s.columns


def _nodes_latencies(s: Shape) -> int:
    if s.columns * s.rows == s.p:
        return _grid_latencies(s)
    return log2_ceil(s.columns) + _log2_floor(s.columns) + 2 * (s.rows - 1)  # up a tree, round a ring, down a tree


def _nodes_volume(s: Shape) -> float:
    if s.columns * s.rows == s.p:
        return _grid_volume(s)
    return 2 * log2_ceil(s.columns) + 2 * _share(s.rows)


_RING = ClosedForm(lambda s: s.p - 1, lambda s: _share(s.p), "(p-1) a + (p-1)/p n b")
_DOUBLING = ClosedForm(lambda s: log2_ceil(s.p), lambda s: _share(s.p), "clg p a + (p-1)/p n b")
_PIPELINE = ClosedForm(_chain, lambda s: _chain(s) / s.pieces, "(p-2+m) (a + n/m b)")
_TREES = "(2m-2+d) (a + n/(2m) b), d = 2 clg p, -1 unless p = q or p mod 4 = 3"

CLOSED_FORMS: dict[str, ClosedForm] = {
    # all_reduce
    "ring_all_reduce": ClosedForm(
        lambda s: 2 * (s.p - 1), lambda s: 2 * _share(s.p), "2(p-1) a + 2(p-1)/p n b"
    ),
    "recursive_doubling_all_reduce": ClosedForm(
        lambda s: _log2_floor(s.p) + 2 * _folded(s.p), lambda s: _log2_floor(s.p) + 2 * _folded(s.p),
        "(lg q + 2[p>q]) (a + n b)",
    ),
    "halving_doubling_all_reduce": ClosedForm(
        lambda s: 2 * _log2_floor(s.p) + 2 * _folded(s.p), lambda s: 2 * _share(_power(s.p)) + 2 * _folded(s.p),
        "2(lg q + [p>q]) a + 2((q-1)/q + [p>q]) n b",
    ),
    "bruck_all_reduce": ClosedForm(
        lambda s: 2 * log2_ceil(s.p), lambda s: 2 * _share(s.p), "2 clg p a + 2(p-1)/p n b"
    ),
    "torus_all_reduce": ClosedForm(
        _grid_latencies, _grid_volume, "2(c-1+r-1) a + 2((c-1)/c + (r-1)/(rc)) n b"
    ),
    "hierarchical_all_reduce": ClosedForm(
        _nodes_latencies, _nodes_volume,
        "nodes alike: as torus; else (clg c + flg c + 2(r-1)) a + 2(clg c + (r-1)/r) n b",
    ),
    "double_tree_all_reduce": ClosedForm(
        lambda s: 2 * _two_trees(s), lambda s: _two_trees(s) / s.pieces, "2 " + _TREES, exact=False
    ),
    "binomial_tree_all_reduce": ClosedForm(
        lambda s: log2_ceil(s.p) + _log2_floor(s.p), lambda s: 2 * log2_ceil(s.p), "(clg p + flg p) a + 2 clg p n b"
    ),
    "star_all_reduce": ClosedForm(
        lambda s: s.p if s.p > 1 else 0, lambda s: 2 * (s.p - 1), "p a + 2(p-1) n b"
    ),
    # reduce_scatter and all_gather
    "ring_reduce_scatter": _RING,
    "bruck_reduce_scatter": _DOUBLING,
    "recursive_halving_reduce_scatter": ClosedForm(
        lambda s: _log2_floor(s.p) + 2 * _folded(s.p), lambda s: _blocks(s.p) + (1 + 1 / s.p) * _folded(s.p),
        "lg p a + (p-1)/p n b; p > q: (lg q + 2) a + (1 + B + 1/p) n b",
    ),
    "ring_all_gather": _RING,
    "bruck_all_gather": _DOUBLING,
    "recursive_doubling_all_gather": ClosedForm(
        lambda s: _log2_floor(s.p) + 2 * _folded(s.p), lambda s: _blocks(s.p) + _folded(s.p),
        "lg p a + (p-1)/p n b; p > q: (lg q + 2) a + (1 + B) n b", exact=False,
    ),
    # broadcast: a sender waits for no latency, a way of h hops has h of them
    "binomial_broadcast": ClosedForm(
        lambda s: _log2_floor(s.p), lambda s: log2_ceil(s.p), "flg p a + clg p n b"
    ),
    "scatter_all_gather_broadcast": ClosedForm(
        lambda s: _log2_floor(s.p) + s.p - 1, lambda s: 2 * _share(s.p), "(flg p + p-1) a + 2(p-1)/p n b"
    ),
    "chain_broadcast": _PIPELINE,
    "double_tree_broadcast": ClosedForm(
        _two_trees, lambda s: _two_trees(s) / (2 * s.pieces), _TREES, exact=False
    ),
    "star_broadcast": ClosedForm(lambda s: s.p > 1, lambda s: s.p - 1, "a + (p-1) n b"),
    # reduce: a receiver waits for every latency
    "binomial_reduce": ClosedForm(lambda s: log2_ceil(s.p), lambda s: log2_ceil(s.p), "clg p (a + n b)"),
    "reduce_scatter_gather_reduce": ClosedForm(
        lambda s: s.p - 1 + log2_ceil(s.p), lambda s: 2 * _share(s.p), "(p-1 + clg p) a + 2(p-1)/p n b"
    ),
    "chain_reduce": _PIPELINE,
    "double_tree_reduce": ClosedForm(
        lambda s: _two_trees(s) - (s.p == 3), lambda s: _two_trees(s) / (2 * s.pieces), _TREES + "; p = 3: -a"
    ),
    "star_reduce": ClosedForm(lambda s: s.p - 1, lambda s: s.p - 1, "(p-1) (a + n b)"),
    # gather and scatter
    "star_gather": _RING,
    "binomial_gather": _DOUBLING,
    "star_scatter": ClosedForm(lambda s: s.p > 1, lambda s: _share(s.p), "a + (p-1)/p n b"),
    "binomial_scatter": ClosedForm(lambda s: _log2_floor(s.p), lambda s: _share(s.p), "flg p a + (p-1)/p n b"),
    # all_to_all (n: the full input of a rank) and barrier
    "pairwise_all_to_all": _RING,
    "bruck_all_to_all": ClosedForm(
        lambda s: log2_ceil(s.p), lambda s: _bits(s.p), "clg p a + (bits of 1 ... p-1)/p n b"
    ),
    "dissemination_barrier": ClosedForm(lambda s: log2_ceil(s.p), lambda s: 0.0, "clg p a"),
}  # fmt: skip
"""Algorithm -> its form. In the texts a and b are alpha and beta, clg and flg the ceiling and the floor of log2, q the largest
power of two that is at most p, [x] one if x holds and else zero, c and r columns and rows, B the blocks of ``_blocks``."""


def seconds(algorithm: str, shape: Shape, nbytes: float, latency: float, bandwidth: float) -> float:
    """The closed form in seconds.

    Args:
        algorithm: its name in the table of ``comm.algorithm``: ``"ring_all_reduce"``.
        shape: the number of ranks and how they stand.
        nbytes: n, the whole buffer, as ``cost.collectives`` counts it.
        latency: alpha, seconds.
        bandwidth: 1 / beta, bytes per second.

    Raises:
        UnknownNameError: no such algorithm.
    """
    if algorithm not in CLOSED_FORMS:
        raise UnknownNameError("closed form", algorithm, CLOSED_FORMS)
    row = CLOSED_FORMS[algorithm]
    return row.latencies(shape) * latency + row.volume(shape) * nbytes / bandwidth
