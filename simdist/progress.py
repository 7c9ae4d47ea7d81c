"""How does a person see that a long piece of work goes on?

A progress bar on a terminal and in a notebook, none when the output is piped or captured (tqdm decides which kind).
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

__all__ = ["progress"]

T = TypeVar("T")


def _is_shown() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def progress(items: Collection[T], what: str) -> Iterator[T]:
    """The items, one after the other, with a bar that says how many are done.

    Args:
        items: what is worked through.
        what: what the work is, for the bar.
    """
    if len(items) < 2 or not _is_shown():
        yield from items
        return
    from tqdm.auto import tqdm

    bar: Iterable[T] = tqdm(items, desc=what, leave=False)
    yield from bar
