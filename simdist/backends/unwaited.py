"""What did a rank start and never wait for?

The result of an asynchronous operation is delivered by ``wait()``: who forgets it keeps what the array held before, and
hears nothing. So every backend remembers what is under way and tells in the run's notes what was forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["remarks"]


def remarks(rank: int, unwaited: Sequence[str]) -> list[str]:
    """What the run's report says about it: one sentence, or none.

    Args:
        rank: whose.
        unwaited: what was never waited for, the oldest first: ``"all_reduce #3"``.
    """
    if not unwaited:
        return []
    first, more = unwaited[0], len(unwaited) - 1
    others = f" and {more} more" if more else ""
    return [f"rank {rank} never waited for {first}{others}: the result was not delivered. Call work.wait()."]
