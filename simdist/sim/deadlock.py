"""Why can nothing run any more?

When the ready stack and the event heap are both empty and a rank has not returned, the run is dead. The report names
every waiting rank, what it waits for and where in the user's file, and, if there is one, the cycle: rank a waits for
b, b for c, ... for a. A rank that waits for one that has returned is told so.
"""

from __future__ import annotations

from collections.abc import Sequence

from simdist.comm.cycle import find_cycle, told
from simdist.place import Place, innermost, text
from simdist.units import format_time

from .kernel import Task

__all__ = ["describe"]

_NOBODY = "Every rank of a group must make the same calls, and every recv needs its send."


def describe(
    mains: Sequence[Task], *, headline: str = "deadlock: no rank can go on.", hints: Sequence[str] = ()
) -> str:
    """The report over the main tasks of all ranks (at most 16 ranks are listed one by one).

    Args:
        mains: the main task of each rank.
        headline: the first line.
        hints: what else is known to be wrong, a sentence each; the first four are told.
    """
    waiting = [task for task in mains if not task.finished]
    returned = [task.rank for task in mains if task.finished]
    waits = {task.rank: task.waiting.ranks() if task.waiting else () for task in waiting}
    lines = [headline]
    for task in waiting[:16]:
        what = task.waiting.what if task.waiting else "nothing that is known"
        missing = ", ".join(map(str, waits[task.rank][:8])) + (", ..." if len(waits[task.rank]) > 8 else "")
        blame = f" (needs rank {missing})" if missing else ""
        lines.append(f"  rank {task.rank} at {format_time(task.now)} waits in {what}{blame}, {text(_place(task))}")
    if len(waiting) > 16:
        lines.append(f"  ... and {len(waiting) - 16} more ranks")
    if returned:
        listed = ", ".join(map(str, returned[:16])) + (", ..." if len(returned) > 16 else "")
        lines.append(f"  rank {listed} {'has' if len(returned) == 1 else 'have'} returned")
    lines += hints[:4] or told(find_cycle(waits)) or [_NOBODY]
    return "\n".join(lines)


def _place(task: Task) -> Place | None:
    known = task.waiting.place(task.rank) if task.waiting is not None else None
    return known if known is not None else innermost(task.greenlet.gr_frame)
