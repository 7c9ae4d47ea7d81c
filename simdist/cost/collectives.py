"""How long should a collective take? The textbook's answers.

Everything is in the alpha-beta-gamma model (Hockney 1994; Thakur, Rabenseifner, Gropp 2005, "Optimization of collective
communication operations in MPICH"): a message of n bytes costs alpha + n beta, combining n bytes costs n gamma. On a
full-duplex network without contention an algorithm on p ranks with n bytes costs::

    seconds = steps(p) * alpha + volume(p) * n * beta + combining(p) * n * gamma

so a row of the table is three functions of p. **n is the whole buffer**: the vector that is reduced or broadcast, the
*gathered* output of an all-gather or a gather, the *full* input of a reduce-scatter, a scatter or (per rank) an all-to-all.

These are bounds with names, independent of the algorithms in ``comm`` and of the simulator that runs them: where the two
agree, a test says so. Logarithms are ceilings: a tree on 5 ranks has 3 levels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simdist.errors import UnknownNameError

__all__ = ["FORMULAS", "Formula", "algorithms", "best", "crossover", "seconds"]

THAKUR = "Thakur, Rabenseifner, Gropp 2005, as in the comments of MPICH src/mpi/coll"
PATARASUK = "Patarasuk, Yuan 2009, JPDC 69(2): bandwidth optimal all-reduce"
SANDERS = (
    "Sanders, Speck, Traeff 2009, Parallel Computing 35(12): two-tree algorithms, idealised (infinitely many segments)"
)
HENSGEN = "Hensgen, Finkel, Manber 1988, Int. J. Parallel Programming 17(1)"


class Formula(NamedTuple):
    """One row: how often alpha, n beta and n gamma are paid on p ranks."""

    collective: str
    algorithm: str
    steps: Callable[[int], float]
    volume: Callable[[int], float]
    combining: Callable[[int], float]
    text: str
    source: str


def log2_ceil(p: int) -> int:
    """Levels of a binary tree on p ranks."""
    return max(p - 1, 0).bit_length()


def _none(_: int) -> float:
    return 0.0


def _share(p: int) -> float:
    """(p - 1) / p: what a rank does not already have."""
    return (p - 1) / p


def _is_power(p: int) -> bool:
    return p & (p - 1) == 0


def _halving_doubling_steps(p: int) -> float:
    return 2 * log2_ceil(p) if _is_power(p) else 2 * (p.bit_length() - 1) + 2


def _halving_doubling_volume(p: int) -> float:
    # without a power of two the ranks above it first give their whole vector to a partner, and get the result back
    return 2 * _share(p) + (0 if _is_power(p) else 2)


def _halving_doubling_combining(p: int) -> float:
    return _share(p) + (0 if _is_power(p) else 1)


_ROWS = (
    Formula(
        "all_reduce", "ring", lambda p: 2 * (p - 1), lambda p: 2 * _share(p), _share,
        "2(p-1) a + 2(p-1)/p n b + (p-1)/p n g", PATARASUK,
    ),
    Formula(
        "all_reduce", "recursive_doubling", log2_ceil, log2_ceil, log2_ceil,
        "lg p (a + n b + n g)", THAKUR,
    ),
    Formula(
        "all_reduce", "halving_doubling", _halving_doubling_steps, _halving_doubling_volume, _halving_doubling_combining,
        "2 lg p a + 2(p-1)/p n b + (p-1)/p n g; p no power of two: (2 floor(lg p) + 2) a + (2(p-1)/p + 2) n b "
        "+ (1 + (p-1)/p) n g", THAKUR,
    ),
    Formula(
        "all_reduce", "binomial_tree", lambda p: 2 * log2_ceil(p), lambda p: 2 * log2_ceil(p), log2_ceil,
        "2 lg p (a + n b) + lg p n g", "binomial reduce, then binomial broadcast: " + THAKUR,
    ),
    Formula(
        "all_reduce", "double_binary_tree", lambda p: 2 * log2_ceil(p), lambda p: 2.0 if p > 1 else 0.0,
        lambda p: 1.0 if p > 1 else 0.0, "2 lg p a + 2 n b + n g", SANDERS,
    ),
    Formula(
        "all_reduce", "star", lambda p: 2 * (p - 1), lambda p: 2 * (p - 1), lambda p: p - 1,
        "2(p-1) (a + n b) + (p-1) n g", "every rank to a root, one after the other, and back",
    ),
    Formula("reduce_scatter", "ring", lambda p: p - 1, _share, _share, "(p-1) a + (p-1)/p n (b + g)", PATARASUK),
    Formula(
        "reduce_scatter", "recursive_halving", log2_ceil, _share, _share,
        "lg p a + (p-1)/p n (b + g), p a power of two", THAKUR,
    ),
    Formula("all_gather", "ring", lambda p: p - 1, _share, _none, "(p-1) a + (p-1)/p n b", THAKUR),
    Formula("all_gather", "recursive_doubling", log2_ceil, _share, _none, "lg p a + (p-1)/p n b", THAKUR),
    Formula("all_gather", "bruck", log2_ceil, _share, _none, "lg p a + (p-1)/p n b", THAKUR),
    Formula("broadcast", "binomial", log2_ceil, log2_ceil, _none, "lg p (a + n b)", THAKUR),
    Formula(
        "broadcast", "scatter_all_gather", lambda p: log2_ceil(p) + p - 1, lambda p: 2 * _share(p), _none,
        "(lg p + p - 1) a + 2(p-1)/p n b", "binomial scatter, ring all-gather: " + THAKUR,
    ),
    Formula("broadcast", "star", lambda p: p - 1, lambda p: p - 1, _none, "(p-1) (a + n b)", "the root sends to each in turn"),
    Formula("reduce", "binomial", log2_ceil, log2_ceil, log2_ceil, "lg p (a + n b + n g)", THAKUR),
    Formula(
        "reduce", "reduce_scatter_gather", lambda p: 2 * log2_ceil(p), lambda p: 2 * _share(p), _share,
        "2 lg p a + 2(p-1)/p n b + (p-1)/p n g", THAKUR,
    ),
    Formula(
        "reduce", "star", lambda p: p - 1, lambda p: p - 1, lambda p: p - 1,
        "(p-1) (a + n b + n g)", "the root receives from each in turn",
    ),
    Formula("gather", "binomial", log2_ceil, _share, _none, "lg p a + (p-1)/p n b", THAKUR),
    Formula("gather", "star", lambda p: p - 1, _share, _none, "(p-1) a + (p-1)/p n b", "the root receives from each in turn"),
    Formula("scatter", "binomial", log2_ceil, _share, _none, "lg p a + (p-1)/p n b", THAKUR),
    Formula("scatter", "star", lambda p: p - 1, _share, _none, "(p-1) a + (p-1)/p n b", "the root sends to each in turn"),
    Formula("all_to_all", "pairwise", lambda p: p - 1, _share, _none, "(p-1) a + (p-1)/p n b", THAKUR),
    Formula("barrier", "dissemination", log2_ceil, _none, _none, "lg p a", HENSGEN),
)  # fmt: skip

FORMULAS: dict[tuple[str, str], Formula] = {(row.collective, row.algorithm): row for row in _ROWS}
"""(collective, algorithm) -> its row."""


def algorithms(collective: str) -> list[str]:
    """The algorithms that the table knows for a collective.

    Raises:
        UnknownNameError: no such collective.
    """
    found = [row.algorithm for row in _ROWS if row.collective == collective]
    if not found:
        raise UnknownNameError("collective", collective, {row.collective for row in _ROWS})
    return found


def formula(collective: str, algorithm: str) -> Formula:
    """One row.

    Raises:
        UnknownNameError: no such collective, or no such algorithm for it.
    """
    known = algorithms(collective)
    if algorithm not in known:
        raise UnknownNameError(f"algorithm for {collective}", algorithm, known)
    return FORMULAS[collective, algorithm]


def seconds(
    collective: str,
    algorithm: str,
    num_ranks: int,
    nbytes: float,
    latency: float,
    bandwidth: float,
    combine_rate: float = float("inf"),
) -> float:
    """The closed form in seconds.

    Args:
        collective: ``"all_reduce"``, ``"all_gather"`` ...
        algorithm: ``"ring"`` ...; see ``algorithms(collective)``.
        num_ranks: p; one rank costs nothing.
        nbytes: n, the whole buffer (see the head of the file).
        latency: alpha, seconds.
        bandwidth: 1 / beta, bytes per second.
        combine_rate: 1 / gamma, bytes per second that a rank combines.

    Raises:
        UnknownNameError: no such collective or algorithm.
    """
    row = formula(collective, algorithm)
    beta, gamma = 1 / bandwidth, 1 / combine_rate
    p = num_ranks
    return row.steps(p) * latency + row.volume(p) * nbytes * beta + row.combining(p) * nbytes * gamma


def best(collective: str, num_ranks: int, nbytes: float, latency: float, bandwidth: float) -> tuple[str, float]:
    """The fastest algorithm of the table and its seconds; the first row wins a tie."""
    times = [
        (seconds(collective, name, num_ranks, nbytes, latency, bandwidth), name) for name in algorithms(collective)
    ]
    least = min(time for time, _ in times)
    return next(name for time, name in times if time == least), least


def crossover(
    collective: str, first: str, second: str, num_ranks: int, latency: float, bandwidth: float
) -> float | None:
    """The size in bytes from which ``second`` is no slower than ``first`` (combining is free here).

    Both costs are straight lines over size, so there is at most one crossing.

    Returns:
        Bytes, 0 if ``second`` is never slower, None if it never catches up.
    """
    a, b = formula(collective, first), formula(collective, second)
    more_latency = (b.steps(num_ranks) - a.steps(num_ranks)) * latency
    less_volume = (a.volume(num_ranks) - b.volume(num_ranks)) / bandwidth
    if more_latency <= 0 and less_volume >= 0:
        return 0.0
    if more_latency <= 0 or less_volume <= 0:
        return None
    return more_latency / less_volume
