"""Do a few areas show what very many spans were?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.plot.pieces import Piece, pieces, runs


def row(kind: str, start: float, end: float, name: str = "x", details: dict[str, Any] | None = None) -> tuple[Any, ...]:
    return (0, "main", kind, name, start, end, details)


def tiled(*parts: tuple[str, float]) -> list[tuple[Any, ...]]:
    rows, time = [], 0.0
    for kind, seconds in parts:
        rows.append(row(kind, time, time + seconds))
        time += seconds
    return rows


def test_neighbours_of_a_kind_become_one() -> None:
    found = pieces(tiled(("forward", 1), ("forward", 2), ("backward", 3)), 0, 6, 0.1)
    assert [(p.kind, p.start, p.end) for p in found] == [("forward", 0, 3), ("backward", 3, 6)]


def test_a_launch_is_pale_in_the_colour_of_what_it_launches() -> None:
    found = pieces(tiled(("launch", 1), ("forward", 2), ("launch", 1), ("optimizer", 1)), 0, 5, 0.1)
    assert [(p.kind, p.pale) for p in found] == [
        ("forward", True),
        ("forward", False),
        ("optimizer", True),
        ("optimizer", False),
    ]


def test_a_launch_of_nothing_stays_a_launch() -> None:
    found = pieces(tiled(("launch", 1), ("wait", 2), ("launch", 1)), 0, 4, 0.1)
    assert [(p.kind, p.pale) for p in found] == [("launch", False), ("wait", False), ("launch", False)]


def test_each_collective_is_its_own_area() -> None:
    rows = [row("communication", 0, 1, "a #0"), row("communication", 1, 2, "b #1")]
    assert [p.name for p in pieces(rows, 0, 2, 0.1)] == ["a #0", "b #1"]


def test_only_the_window_is_kept_and_its_edges_cut() -> None:
    rows = tiled(("forward", 2), ("backward", 2), ("optimizer", 2))
    assert [(p.kind, p.start, p.end) for p in pieces(rows, 1, 4, 0.1)] == [("forward", 1, 2), ("backward", 2, 4)]


def test_narrow_spans_show_what_took_most_of_the_time() -> None:
    rows = tiled(*[("forward", 0.01), ("wait", 0.04)] * 20)
    found = pieces(rows, 0, 1, 0.1)
    assert {p.kind for p in found} == {"wait"}
    assert found[0].start == 0
    assert found[-1].end == pytest.approx(1)


def test_a_sliver_between_launches_of_its_pass_is_not_seen() -> None:
    rows = tiled(("launch", 1), ("forward", 0.001), ("launch", 1), ("forward", 0.001), ("launch", 1), ("forward", 3))
    found = pieces(rows, 0, 7, 0.1)
    assert [(p.kind, p.pale) for p in found] == [("forward", True), ("forward", False)]


def test_a_gap_in_a_stream_stays_a_gap() -> None:
    rows = [row("communication", 0.0, 0.01), row("communication", 5.0, 5.01)]
    found = pieces(rows, 0, 10, 0.1)
    assert [(p.start, p.end) for p in found] == [(0.0, 0.01), (5.0, 5.01)]


def test_details_of_a_single_span_are_kept() -> None:
    assert pieces([row("wait", 0, 1, details={"for": [3]})], 0, 1, 0.1)[0].details == {"for": [3]}


def test_nothing_gives_nothing() -> None:
    assert pieces([], 0, 1, 0.1) == []
    assert runs([]) == []


def test_a_run_joins_a_pass_and_is_pale_if_most_of_it_is_launches() -> None:
    areas = [Piece("forward", True, 0, 3), Piece("forward", False, 3, 4), Piece("backward", True, 4, 5)]
    areas += [
        Piece("backward", False, 5, 9),
        Piece("communication", False, 9, 10),
        Piece("communication", False, 10, 11),
    ]
    assert [(r.kind, r.pale, r.start, r.end) for r in runs(areas)] == [
        ("forward", True, 0, 4),
        ("backward", False, 4, 9),
        ("communication", False, 9, 10),
        ("communication", False, 10, 11),
    ]


KINDS = ("launch", "forward", "backward", "optimizer", "communication", "wait", "idle")


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.floats(1e-4, 5.0)), min_size=1, max_size=60), st.floats(0.001, 3.0)
)
def test_areas_tile_what_the_spans_tile_and_are_as_many_as_fit(parts: list[tuple[str, float]], quantum: float) -> None:
    rows = tiled(*parts)
    end = rows[-1][5]
    found = pieces(rows, 0.0, end, quantum)
    assert found[0].start == 0.0
    assert found[-1].end == end
    for one, other in pairwise(found):
        assert one.end == other.start
    assert len(found) <= 2 * end / quantum + 2


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.floats(1e-4, 5.0)), min_size=1, max_size=60))
def test_runs_cover_the_same_time(parts: list[tuple[str, float]]) -> None:
    areas = pieces(tiled(*parts), 0.0, 1e9, 0.05)
    joined = runs(areas)
    assert (joined[0].start, joined[-1].end) == (areas[0].start, areas[-1].end)
    assert sum(r.end - r.start for r in joined) == pytest.approx(sum(a.end - a.start for a in areas))
