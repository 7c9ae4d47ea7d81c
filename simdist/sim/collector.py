"""What does Python's garbage collector look at during a run?

A trace is a growing list, and every full collection walks over everything that the process holds: numpy, the
simulator, the caller's own data. What is there when a run begins is set aside until it ends, so that a collection
costs what the run itself has made. Cycles that the run makes are found as always.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["set_aside"]


@contextmanager
def set_aside() -> Iterator[None]:
    """Keep what exists now out of collections while the block runs (nothing is done if the caller has done so)."""
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
