"""Where in the user's program is a thread?

Looked up only when somebody asks (an error, a time-out), from the live stack of the thread: waiting costs nothing for it.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from simdist.place import innermost, text

__all__ = ["is_ours", "thread_place"]

_PACKAGE = Path(__file__).resolve().parents[2]
_WORKER = "simdist.backends.process.worker"


def is_ours(filename: str) -> bool:
    """Whether a file belongs to this package, not to the user."""
    return _PACKAGE in Path(filename).resolve().parents


def thread_place(ident: int) -> str:
    """The innermost line outside simdist of the thread with this identifier as ``train.py:31``, or an empty text."""
    place = innermost(sys._current_frames().get(ident))
    # At the bottom of a stack is a thread's start, or the line that started the worker: no user's program.
    if place is None or place[0].co_filename == threading.__file__ or _WORKER in place[0].co_names:
        return ""
    return text(place)
