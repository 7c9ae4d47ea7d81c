"""What do all simulated ranks see, and who touches it first?

Ranks run ahead of each other in no particular order, so what one of them leaves for all (a key in a store) must be touched in
the order of the clock: a rank that wants to waits until everything before its own time has happened. Of several that come at
the same time the lowest rank is first. Each touch takes a microsecond, so that a loop that asks lets the clock move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from simdist.errors import DistTimeoutError
from simdist.trace.span import MAIN
from simdist.units import format_time

from .deadline import limit as deadline
from .kernel import Kernel, Task
from .waiting import Waiting

if TYPE_CHECKING:
    from .rank import SimRank

__all__ = ["TOUCH_SECONDS", "Commons", "Turns"]

TOUCH_SECONDS = 1e-6
"""What it costs to look at something that all ranks share, or to change it."""

_TURN = Waiting("the clock")


class Turns:
    """Who may touch what all ranks see, one after the other, and who waits for a change of it.

    Args:
        kernel: the clock.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._pending: dict[float, list[Task]] = {}
        self._waiting: dict[Task, Callable[[], bool]] = {}

    def take(self, task: Task) -> None:
        """Return when everything before the task's own time has happened, and lower ranks of that time have had their turn."""
        due = self._pending.get(task.now)
        if due is not None:
            due.append(task)
        else:
            time = task.now
            self._pending[time] = [task]
            self._kernel.at(time, lambda: self._serve(time), last=True)
        self._kernel.wait(task, _TURN)

    def _serve(self, time: float) -> None:
        for task in sorted(self._pending.pop(time), key=lambda task: -task.rank):
            self._kernel.wake(task)  # the last one that is woken runs first

    def wait(self, task: Task, ready: Callable[[], bool], what: str) -> int:
        """Return at the time at which ``ready()`` has become true: the rank that has made it so."""
        self._waiting[task] = ready
        try:
            return int(self._kernel.wait(task, Waiting(what)))
        finally:
            self._waiting.pop(task, None)

    def changed(self, rank: int) -> None:
        """``rank`` may have changed something now: wake those who have waited for it."""
        now = self._kernel.env.now
        for task in [task for task, ready in self._waiting.items() if ready()]:
            del self._waiting[task]
            task.now = max(task.now, now)
            self._kernel.wake(task, rank)


class Commons:
    """What all ranks of a run see, as one rank sees it.

    Args:
        rank: the rank.

    Attributes:
        things: anything that ranks leave for each other, by a key.
    """

    __slots__ = ("_rank", "things")

    def __init__(self, rank: SimRank) -> None:
        self._rank = rank
        self.things = rank.site.things

    def touch(
        self,
        what: str,
        action: Callable[[], Any],
        ready: Callable[[], bool] | None = None,
        limit: float | None = None,
    ) -> Any:
        """Do ``action`` when it is this rank's turn, and ``ready()`` holds.

        Args:
            what: for a person: ``"store.get('k')"``.
            action: looks at what is shared, or changes it.
            ready: what must hold first; None: nothing.
            limit: simulated seconds that it may take until then; None: any time.

        Returns:
            What ``action`` returns.

        Raises:
            DistTimeoutError: it was not ready within the limit.
        """
        rank, turns = self._rank, self._rank.site.turns
        task = rank.main
        began = task.now
        by: list[int] = []
        try:
            turns.take(task)
            while ready is not None and not ready():
                rest = None if limit is None else max(0.0, began + limit - task.now)
                with deadline(rank.kernel, task, rest, lambda: DistTimeoutError(self._late(began, what, limit))):
                    by = [turns.wait(task, ready, what)]
                turns.take(task)
        finally:
            self._note("wait", what, began, by)
        answer = action()
        turns.changed(rank.rank)
        began = task.now
        rank.kernel.advance(task, TOUCH_SECONDS)
        self._note("communication", what, began)
        return answer

    def _late(self, began: float, what: str, limit: float | None) -> str:
        assert limit is not None
        return f"rank {self._rank.rank} at {format_time(began + limit)}: {what} took longer than {format_time(limit)}."

    def _note(self, kind: str, what: str, began: float, by: Sequence[int] = ()) -> None:
        """A row of the trace, with the rank that ended a waiting."""
        rank = self._rank
        if rank.spans is not None and rank.main.now > began:
            details = {"op": what, "for": list(by)} if by else {"op": what}
            rank.spans.append((rank.rank, MAIN, kind, what, began, rank.main.now, details))
