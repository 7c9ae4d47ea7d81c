"""Do the textbook's formulas give the textbook's numbers?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.cost import collectives
from simdist.cost.collectives import FORMULAS, algorithms, best, crossover, seconds
from simdist.errors import UnknownNameError

A, B = 5e-6, 10e9
POWERS = st.integers(0, 10).map(lambda exponent: 2**exponent)


def us(algorithm: str, nbytes: float, p: int = 8, collective: str = "all_reduce") -> float:
    return seconds(collective, algorithm, p, nbytes, A, B) * 1e6


@pytest.mark.parametrize(
    ("nbytes", "ring", "doubling", "tree"), [(1000, 70.175, 15.3, 30.6), (1_000_000, 245.0, 315.0, 630.0)]
)
def test_spot_values_on_eight_ranks(nbytes: float, ring: float, doubling: float, tree: float) -> None:
    assert us("ring", nbytes) == pytest.approx(ring, rel=1e-12)
    assert us("recursive_doubling", nbytes) == pytest.approx(doubling, rel=1e-12)
    assert us("binomial_tree", nbytes) == pytest.approx(tree, rel=1e-12)


@pytest.mark.parametrize(
    ("algorithm", "nbytes"),
    [("binomial_tree", 2_000_000 / 21.25), ("recursive_doubling", 440_000), ("double_binary_tree", 1_600_000)],
)
def test_where_the_ring_overtakes_the_trees(algorithm: str, nbytes: float) -> None:
    found = crossover("all_reduce", algorithm, "ring", 8, A, B)
    assert found == pytest.approx(nbytes, rel=1e-9)
    assert us(algorithm, nbytes) == pytest.approx(us("ring", nbytes), rel=1e-9)
    assert us(algorithm, nbytes * 0.99) < us("ring", nbytes * 0.99)
    assert us(algorithm, nbytes * 1.01) > us("ring", nbytes * 1.01)


def test_ring_and_doubling_take_147_us_where_they_cross() -> None:
    assert us("ring", 440_000) == pytest.approx(147, rel=1e-9)
    assert us("recursive_doubling", 440_000) == pytest.approx(147, rel=1e-9)


def test_two_ranks() -> None:
    assert us("ring", 1e6, 2) == pytest.approx(2 * 5 + 100, rel=1e-9)
    assert us("recursive_doubling", 1e6, 2) == pytest.approx(5 + 100, rel=1e-9)
    assert crossover("all_reduce", "recursive_doubling", "ring", 2, A, B) is None
    assert crossover("all_reduce", "ring", "recursive_doubling", 2, A, B) == 0.0


@pytest.mark.parametrize(
    ("p", "levels"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (1024, 10), (1025, 11)]
)
def test_a_tree_has_ceil_of_log2_levels(p: int, levels: int) -> None:
    assert collectives.log2_ceil(p) == levels == math.ceil(math.log2(p))
    assert us("binomial", 0, p, "broadcast") == pytest.approx(5 * levels)
    assert us("dissemination", 12345, p, "barrier") == pytest.approx(5 * levels)


@pytest.mark.parametrize("row", FORMULAS.values(), ids=lambda row: f"{row.collective}-{row.algorithm}")
def test_one_rank_costs_nothing_and_every_row_says_where_it_comes_from(row: collectives.Formula) -> None:
    assert seconds(row.collective, row.algorithm, 1, 1e9, A, B, 1e9) == 0
    assert row.text
    assert len(row.source) > 10


# By hand for p = 6 (no power of two): alpha, n beta, n gamma paid.
@pytest.mark.parametrize(
    ("collective", "algorithm", "steps", "volume", "combining"),
    [
        ("all_reduce", "ring", 10, 10 / 6, 5 / 6),
        ("all_reduce", "recursive_doubling", 3, 3, 3),
        ("all_reduce", "halving_doubling", 6, 10 / 6 + 2, 1 + 5 / 6),
        ("all_reduce", "binomial_tree", 6, 6, 3),
        ("all_reduce", "double_binary_tree", 6, 2, 1),
        ("all_reduce", "star", 10, 10, 5),
        ("reduce_scatter", "ring", 5, 5 / 6, 5 / 6),
        ("all_gather", "ring", 5, 5 / 6, 0),
        ("all_gather", "bruck", 3, 5 / 6, 0),
        ("broadcast", "binomial", 3, 3, 0),
        ("broadcast", "scatter_all_gather", 8, 10 / 6, 0),
        ("broadcast", "star", 5, 5, 0),
        ("reduce", "binomial", 3, 3, 3),
        ("reduce", "reduce_scatter_gather", 6, 10 / 6, 5 / 6),
        ("reduce", "star", 5, 5, 5),
        ("gather", "binomial", 3, 5 / 6, 0),
        ("gather", "star", 5, 5 / 6, 0),
        ("scatter", "star", 5, 5 / 6, 0),
        ("all_to_all", "pairwise", 5, 5 / 6, 0),
        ("barrier", "dissemination", 3, 0, 0),
    ],
)
def test_each_row_by_hand(collective: str, algorithm: str, steps: float, volume: float, combining: float) -> None:
    assert seconds(collective, algorithm, 6, 0, 1.0, 1.0) == pytest.approx(steps)
    assert seconds(collective, algorithm, 6, 1, 0.0, 1.0) == pytest.approx(volume)
    assert seconds(collective, algorithm, 6, 1, 0.0, math.inf, 1.0) == pytest.approx(combining)


@given(POWERS, st.floats(0, 1e12), st.floats(0, 1e-3), st.floats(1e6, 1e12))
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(p: int, n: float, a: float, b: float) -> None:
    ring = seconds("reduce_scatter", "ring", p, n, a, b) + seconds("all_gather", "ring", p, n, a, b)
    assert seconds("all_reduce", "ring", p, n, a, b) == pytest.approx(ring)
    halving = seconds("reduce_scatter", "recursive_halving", p, n, a, b) + seconds(
        "all_gather", "recursive_doubling", p, n, a, b
    )
    assert seconds("all_reduce", "halving_doubling", p, n, a, b) == pytest.approx(halving)


@given(st.integers(2, 2000), st.floats(1, 1e12), st.floats(1e-9, 1e-3), st.floats(1e6, 1e12))
def test_the_best_is_no_slower_than_any(p: int, n: float, a: float, b: float) -> None:
    for collective in dict.fromkeys(row.collective for row in FORMULAS.values()):
        name, least = best(collective, p, n, a, b)
        assert name in algorithms(collective)
        assert least == min(seconds(collective, other, p, n, a, b) for other in algorithms(collective))


def test_the_first_row_wins_a_tie() -> None:
    assert best("all_gather", 8, 1000, A, B)[0] == "recursive_doubling"  # bruck costs the same
    assert best("all_reduce", 8, 1000, A, B)[0] == "recursive_doubling"


@given(st.sampled_from(algorithms("all_reduce")), st.sampled_from(algorithms("all_reduce")), st.integers(2, 600))
def test_after_the_crossover_the_second_is_no_slower(first: str, second: str, p: int) -> None:
    size = crossover("all_reduce", first, second, p, A, B)
    if size is None:
        assert seconds("all_reduce", second, p, 1e15, A, B) > seconds("all_reduce", first, p, 1e15, A, B) * (1 - 1e-9)
    else:
        more = 2 * size + 1
        assert seconds("all_reduce", second, p, more, A, B) <= seconds("all_reduce", first, p, more, A, B) * (1 + 1e-9)


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"there is no collective named 'all_reduc'\. Did you mean 'all_reduce'"):
        algorithms("all_reduc")
    with pytest.raises(
        UnknownNameError, match=r"there is no algorithm for all_reduce named 'rings'\. Did you mean 'ring'"
    ):
        seconds("all_reduce", "rings", 2, 1, 1, 1)
