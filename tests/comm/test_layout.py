from __future__ import annotations

import pytest

from simdist.comm.layout import FLAT, Layout


@pytest.mark.parametrize(
    ("size", "rows"),
    [(1, [[0]]), (4, [[0, 1], [2, 3]]), (6, [[0, 1, 2], [3, 4, 5]]), (7, [[0, 1, 2, 3, 4, 5, 6]])],
)
def test_without_nodes_the_rows_are_as_square_as_they_can_be(size: int, rows: list[list[int]]) -> None:
    assert [list(row) for row in FLAT.rows(size)] == rows


def test_nodes_that_are_alike_are_the_rows() -> None:
    nodes = ((0, 2, 4), (1, 3, 5))
    assert Layout(nodes).rows(6) == nodes


def test_uneven_nodes_are_no_rows() -> None:
    assert Layout(((0, 1, 2), (3,))).rows(4) == ((0, 1), (2, 3))


def test_nodes_of_one_rank_are_no_rows() -> None:
    """A column as long as the world would make a torus a plain ring."""
    assert Layout(((0,), (1,), (2,), (3,))).rows(4) == ((0, 1), (2, 3))
    assert Layout(((0,),)).rows(1) == ((0,),)
