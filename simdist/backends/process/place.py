"""Where in the user's program is a thread?

Looked up only when somebody asks (an error, a time-out), from the live stack of the thread: waiting costs nothing for it.
The user's program is what is neither this package nor installed: a line of the standard library teaches nobody anything.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from simdist.place import text

__all__ = ["is_ours", "is_users", "thread_place"]

_PACKAGE = Path(__file__).resolve().parents[2]
_INSTALLED = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_WORKER = "simdist.backends.process.worker"


def is_ours(filename: str) -> bool:
    """Whether a file belongs to this package."""
    return _PACKAGE in Path(filename).resolve().parents


def is_users(filename: str) -> bool:
    """Whether a file is neither ours nor installed; ``<stdin>`` and a notebook's cell are the user's."""
    return not (filename.startswith("<frozen") or is_ours(filename)) and _INSTALLED.isdisjoint(
        Path(filename).resolve().parents
    )


def thread_place(ident: int) -> str:
    """The innermost line of the user's program in the thread with this identifier as ``train.py:31``, or an empty text."""
    frame = sys._current_frames().get(ident)
    while frame is not None:
        # The line that starts a worker looks like a program, but it is nobody's.
        if is_users(frame.f_code.co_filename) and _WORKER not in frame.f_code.co_names:
            return text((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return ""
