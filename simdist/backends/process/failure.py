"""Why did a run fail, and what does the caller get?

The caller gets the original exception, with the rank's traceback as its cause and the rank and time as a note. A rank that
cannot show one (killed, left) becomes a `RankFailedError`. If several failed, the earliest is raised and the others are
noted on it, but a rank that only waited for another is never the reason while there is a better one. If all only waited, what
they say is compared: ranks that called different collectives, or crossed their tags, are told so.
"""

from __future__ import annotations

import pickle
import signal
import traceback
from collections.abc import Sequence
from typing import NamedTuple

from simdist.backends.process.claim import Claim, circle, crossings, dispute
from simdist.backends.process.patience import DisagreementError
from simdist.backends.process.place import is_ours
from simdist.backends.process.shipment import pack
from simdist.comm.cycle import told
from simdist.errors import DeadlockError, DistTimeoutError, RankFailedError

__all__ = ["Report", "exit_text", "lost", "report", "verdict"]


class Report(NamedTuple):
    """What is known of one failed rank.

    Attributes:
        rank: the rank.
        time: seconds since the common start.
        text: one line for people.
        trace: the rank's traceback, empty without an exception.
        pickled: the exception, None if it cannot be pickled.
        stuck: whether the rank failed because it waited in vain.
        waits: what it waited for then.
        claims: what it had posted then.
    """

    rank: int
    time: float
    text: str
    trace: str = ""
    pickled: bytes | None = None
    stuck: bool = False
    waits: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()


def report(
    rank: int, time: float, error: BaseException, waits: Sequence[str] = (), claims: Sequence[Claim] = ()
) -> Report:
    """In the worker: put an exception into a form that travels."""
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        why = f" ({error.code})" if isinstance(error.code, str) else ""
        return Report(rank, time, f"rank {rank} left with exit code {code} (sys.exit){why} before it returned")
    stuck = isinstance(error, (DistTimeoutError, DeadlockError))
    text = "".join(traceback.format_exception_only(error)).strip()
    return Report(rank, time, text, _trace(error), _pickled(error), stuck, tuple(waits), tuple(claims))


def _trace(error: BaseException) -> str:
    """The traceback from the user's first line on: the frames of the machinery above it teach nothing."""
    start = error.__traceback__
    while start is not None and is_ours(start.tb_frame.f_code.co_filename):
        start = start.tb_next
    return "".join(traceback.format_exception(type(error), error, start or error.__traceback__))


def _pickled(error: BaseException) -> bytes | None:
    try:
        return pack(error)
    except Exception:  # its class or a value in it stays behind; the text and the traceback do not
        return None


def exit_text(rank: int, code: int | None) -> str:
    """What a process's end says: ``rank 1 was killed by signal 9 (SIGKILL)``."""
    if code is None:
        return f"rank {rank} closed its connection and does not answer"
    if code >= 0:
        return f"rank {rank} left with exit code {code} before it returned"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:
        name = ""
    hint = ": by somebody, or by the system because memory ran out" if -code == getattr(signal, "SIGKILL", 0) else ""
    return f"rank {rank} was killed by signal {-code}{name}{hint}"


def lost(rank: int, time: float, code: int | None, last_words: list[str]) -> Report:
    """A rank whose process ended, with the last lines it wrote below Python."""
    words = "".join(f"\n    {line}" for line in last_words)
    return Report(rank, time, exit_text(rank, code) + (f". Its last words:{words}" if words else ""))


def verdict(
    reports: list[Report], world: dict[int, list[str]], claims: Sequence[Claim] = (), what: str = "process"
) -> BaseException:
    """The exception to raise.

    Args:
        reports: at least one.
        world: for each other rank, what it was doing: shown if the reason is that a rank waited in vain.
        claims: what the other ranks had posted.
        what: what a rank is.
    """
    first, *others = sorted(reports, key=lambda each: (each.stuck, each.time, each.rank))
    error = _rebuilt(first)
    if first.stuck:
        claims = [claim for each in reports for claim in each.claims] + list(claims)
        reason, hints = dispute(claims), crossings(claims)
        error = _disagreement(error, reason) if reason is not None else error
        why = [] if reason is not None else hints or told(circle(claims))
        error.args = ("\n".join([str(error), _table(reports, world), *why]), *error.args[1:])
    if first.trace:
        error.__cause__ = RankFailedError(f"rank {first.rank} raised\n\n{first.trace}")
        error.add_note(f"raised on rank {first.rank} ({what}) at {first.time:.3f} s")
    for other in others:
        error.add_note(f"rank {other.rank} failed too, at {other.time:.3f} s: {other.text}")
    return error


def _disagreement(error: BaseException, reason: str) -> DisagreementError:
    """The error of a rank that waited in vain, since the ranks called different things."""
    told = DisagreementError(f"{reason}\n{error}")
    for note in getattr(error, "__notes__", ()):
        told.add_note(note)
    return told


def _rebuilt(failure: Report) -> BaseException:
    if failure.pickled is not None:
        try:
            error = pickle.loads(failure.pickled)
        except Exception as reason:
            why = f" (the original could not be rebuilt here: {type(reason).__name__}: {reason})"
            return RankFailedError(f"rank {failure.rank} raised {failure.text}{why}")
        if isinstance(error, BaseException):
            return error
    if failure.trace:
        return RankFailedError(f"rank {failure.rank} raised {failure.text} (the original could not be pickled)")
    return RankFailedError(failure.text)


def _table(reports: list[Report], world: dict[int, list[str]]) -> str:
    doing = dict(world)
    for each in reports:
        doing[each.rank] = [f"waits for {line}" for line in each.waits] or [each.text.splitlines()[0]]
    lines = [f"  rank {rank} {line}" for rank in sorted(doing) for line in doing[rank]]
    return "\n".join(["What each rank was doing:", *lines])
