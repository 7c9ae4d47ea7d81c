"""Is an outline true to the steps that it summarizes?"""

from __future__ import annotations

import pytest

from simdist.comm import ALGORITHMS
from simdist.comm.layout import FLAT, Layout
from simdist.comm.outline import OUTLINES, outline
from simdist.comm.rehearsal import rehearse
from simdist.cost.closed_forms import CLOSED_FORMS, Shape

NAMES = sorted(OUTLINES)
NODES = {
    "two of three": ((0, 1, 2), (3, 4, 5)),
    "four of two, interleaved": ((0, 4), (1, 5), (2, 6), (3, 7)),
    "unequal": ((0, 1, 2), (3,), (4, 5)),
    "one large": ((0, 1, 2, 3, 4), (5,)),
}


def totals(name: str, size: int, layout: Layout) -> tuple[float, float]:
    """How often alpha and n beta are paid in all phases."""
    waits = volume = 0.0
    for _, rounds, share, latencies, per_piece in outline(name, size, layout):
        count = rounds + per_piece * layout.pieces
        waits += count if latencies is None else latencies
        volume += count * share / (layout.pieces if per_piece else 1)
    return waits, volume


def closed(name: str, size: int, layout: Layout) -> tuple[float, float]:
    rows = (layout.nodes or (tuple(range(size)),)) if name.startswith("hier") else layout.rows(size)
    shape = Shape(size, max(map(len, rows)), len(rows), layout.pieces)
    # a receiver that does not wait for a round of the trees is no matter for an outline
    spared = 1 if name == "double_tree_reduce" and size == 3 else 0
    return CLOSED_FORMS[name].latencies(shape) + spared, CLOSED_FORMS[name].volume(shape)


def test_every_algorithm_has_an_outline() -> None:
    assert set(OUTLINES) == set(ALGORITHMS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [*range(1, 18), 31, 100, 1024])
@pytest.mark.parametrize("pieces", [1, 5])
def test_the_phases_add_up_to_the_closed_form(name: str, size: int, pieces: int) -> None:
    layout = Layout(pieces=pieces)
    assert totals(name, size, layout) == pytest.approx(closed(name, size, layout), rel=1e-12)


@pytest.mark.parametrize("name", ["torus_all_reduce", "hierarchical_all_reduce"])
@pytest.mark.parametrize("nodes", NODES.values(), ids=NODES)
def test_the_phases_of_grids_and_nodes_do_so_too(name: str, nodes: tuple[tuple[int, ...], ...]) -> None:
    size = sum(map(len, nodes))
    assert totals(name, size, Layout(nodes)) == pytest.approx(closed(name, size, Layout(nodes)), rel=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pairwise_all_to_all"])
@pytest.mark.parametrize("size", range(2, 18))
def test_the_pairs_are_those_that_talk(name: str, size: int) -> None:
    row = ALGORITHMS[name]
    assert {pair for phase in outline(name, size, FLAT) for pair in phase.pairs()} == {
        (exchange.src, exchange.dst) for exchange in rehearse(row, size).exchanges()
    }


@pytest.mark.parametrize("name", ["torus_all_reduce", "hierarchical_all_reduce"])
@pytest.mark.parametrize("nodes", NODES.values(), ids=NODES)
def test_the_pairs_of_grids_and_nodes_are_too(name: str, nodes: tuple[tuple[int, ...], ...]) -> None:
    size, layout = sum(map(len, nodes)), Layout(nodes)
    pairs = {pair for phase in outline(name, size, layout) for pair in phase.pairs()}
    assert pairs == {(e.src, e.dst) for e in rehearse(ALGORITHMS[name], size, 0, layout).exchanges()}


@pytest.mark.parametrize("size", [2, 5, 16, 33])
def test_an_exchange_of_all_pairs_counts_distances_by_powers_of_two(size: int) -> None:
    phases = outline("pairwise_all_to_all", size, FLAT)
    assert len(phases) == (size - 1).bit_length()
    assert sum(phase.rounds for phase in phases) == size - 1
