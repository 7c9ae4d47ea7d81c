"""How are rows kept that nobody may ever read?

A collective of a thousand ranks is two million messages, all known from a few numbers. A recorder may put such a *packed*
item among the rows: something that writes its rows out when asked. ``Rows`` is a list of rows and packed items that
becomes a sorted list of rows when it is read for the first time, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, overload, runtime_checkable

__all__ = ["Packed", "Row", "Rows", "unpacked"]

Row = tuple[Any, ...]


@runtime_checkable
class Packed(Protocol):
    """Stands for many rows."""

    def rows(self) -> Iterator[Row]:
        """The rows that it stands for."""


def unpacked(items: Iterable[Any]) -> Iterator[Row]:
    """The rows of ``items``, each a row or packed, in order."""
    packed: dict[type, bool] = {}
    for item in items:
        kind = item.__class__
        known = packed.get(kind)
        if known is None:
            known = packed[kind] = isinstance(item, Packed)
        if known:
            yield from item.rows()
        else:
            yield item


class Rows(Sequence[Row]):
    """Rows, sorted, some of which are still packed.

    Args:
        items: rows and packed items; the list must not change any more.
        key: the order of the rows.
    """

    def __init__(self, items: Sequence[Any], key: Callable[[Row], Any]) -> None:
        self._items: Sequence[Any] | None = items
        self._key: Callable[[Row], Any] | None = key
        self._rows: list[Row] = []

    def _all(self) -> list[Row]:
        if self._items is not None:
            self._rows = sorted(unpacked(self._items), key=self._key)
            self._items = self._key = None
        return self._rows

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Row]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, Rows) else other)

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self._all(),)
