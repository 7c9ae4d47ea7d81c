"""What does a learner read when the function did not get to its end?

One word for the table and a text below it: the lesson that the simulator has already written (a deadlock names
every waiting rank, a mismatch both calls), or the learner's own exception with the learner's own line. Frames of
the checker teach nothing and are not shown.
"""

from __future__ import annotations

from linecache import getline
from pathlib import Path
from traceback import walk_tb
from typing import NamedTuple

from simdist.backends.watchdog import EndlessLoopError, GiveUp
from simdist.errors import CollectiveMismatchError, DeadlockError, DistTimeoutError, OutOfMemoryError, RankFailedError
from simdist.learn.case import Case

__all__ = ["KINDS", "Failure", "explain"]


class Failure(NamedTuple):
    """Why a trial did not end.

    Attributes:
        word: for the table: ``"deadlock"``, ``"IndexError"``.
        lesson: what happened, where, and what to try.
        is_attempted: False if the starter's hole is still there.
    """

    word: str
    lesson: str
    is_attempted: bool = True


KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (NotImplementedError, "not attempted"),
    (EndlessLoopError, "endless loop"),
    (GiveUp, "took too long"),
    (DeadlockError, "deadlock"),
    (DistTimeoutError, "timeout"),
    (CollectiveMismatchError, "mismatch"),
    (OutOfMemoryError, "out of memory"),
    (RankFailedError, "left the run"),
)
"""Kinds of failure and their words, the first that fits; any other is called as its class."""

_TOO_LONG = (
    "After {seconds:g} s on this computer the function had not returned{where}. Either it is far too slow (the reference takes "
    "less than a second), or a loop waits for something that no rank sends, or is its condition never false?"
)


def explain(error: BaseException, case: Case, filename: str, seconds: float) -> Failure:
    """Put into words what left the learner's function.

    Args:
        error: what was raised.
        case: on which world.
        filename: the learner's file.
        seconds: the host's limit, for the text of an endless loop.
    """
    word = next((word for kind, word in KINDS if isinstance(error, kind)), type(error).__name__)
    if isinstance(error, NotImplementedError):
        return Failure(word, "The hole is still there: replace `raise NotImplementedError` by your program.", False)
    where = _place(error, filename)
    if isinstance(error, (EndlessLoopError, GiveUp)) and "simulated time" not in str(error):
        return Failure("took too long", f"{case}: {_TOO_LONG.format(seconds=seconds, where=where)}")
    if isinstance(error, EndlessLoopError):
        text = str(error)
    elif isinstance(error, RankFailedError):
        text = f"{error}{where}. Return instead of leaving the interpreter."
    elif word == type(error).__name__:
        text = f"{word}: {error}{where}"
    else:
        text = str(error)
    notes = [note for note in getattr(error, "__notes__", ()) if note.startswith("raised")]
    return Failure(word, f"{case}: {text}" + (f"\n{notes[0]}" if notes and where else ""))


def _place(error: BaseException, filename: str) -> str:
    """The innermost line of the learner's file that the exception passed, as `` (mine.py:12: x[8])``, or nothing."""
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == filename]
    if not lines:
        return ""
    source = getline(filename, lines[-1]).strip()
    return f" ({Path(filename).name}:{lines[-1]}{': ' if source else ''}{source})"
