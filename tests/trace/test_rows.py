from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, NamedTuple

from simdist.trace.rows import Rows, unpacked


class Three(NamedTuple):
    """Three rows in one item."""

    asked: list[int]
    first: int

    def rows(self) -> Iterator[tuple[Any, ...]]:
        self.asked.append(1)
        yield from ((self.first + i,) for i in range(3))


def first(row: tuple[Any, ...]) -> Any:
    return row[0]


def test_packed_items_are_written_out_in_their_place() -> None:
    assert list(unpacked([(1,), Three([], 5), (2,)])) == [(1,), (5,), (6,), (7,), (2,)]


def test_nothing_is_unpacked_before_it_is_read_and_then_once() -> None:
    item = Three([], 5)
    rows = Rows([(9,), item, (1,)], first)
    assert item.asked == []
    assert list(rows) == [(1,), (5,), (6,), (7,), (9,)]
    assert len(rows) == 5 and rows[1] == (5,) and rows[-2:] == [(7,), (9,)]
    assert item.asked == [1]


def test_equal_to_a_list_and_pickled_as_one() -> None:
    rows = Rows([(2,), (1,)], first)
    assert rows == [(1,), (2,)]
    assert pickle.loads(pickle.dumps(rows)) == [(1,), (2,)]
