"""How does a person see that a long piece of work goes on?

A progress bar on a terminal and in a notebook, none when the output is piped or captured (tqdm decides which kind).
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["progress", "pulse"]

T = TypeVar("T")

_PATIENCE, _EVERY = 1.0, 0.2
"""Seconds of host time before a pulse is shown, and between two looks at it."""


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
    bar: Iterable[T] = _tqdm()(items, desc=what, leave=False)
    yield from bar


def _tqdm() -> Any:
    """Tqdm's bar for this place; in a notebook without ipywidgets it is a text, and that needs no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm


@contextmanager
def pulse(what: str, count: Callable[[], int]) -> Iterator[None]:
    """While the block runs, show a count that grows, if it takes longer than a second.

    Args:
        what: what the work is, for the bar.
        count: how much has been done; asked from another thread.
    """
    if not _is_shown():
        yield
        return
    over = threading.Event()
    watcher = threading.Thread(target=_show, args=(what, count, over), name="simdist-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _show(what: str, count: Callable[[], int], over: threading.Event) -> None:
    if over.wait(_PATIENCE):
        return
    with _tqdm()(desc=what, unit=" steps", leave=False) as bar:
        while not over.wait(_EVERY):
            bar.update(count() - bar.n)
