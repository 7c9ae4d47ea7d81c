"""How does a collective go where the network tells only how long it takes?

At the level ``messages`` ranks carry out their own steps (``sim.meeting``). At all other levels every member parks, the
blocking ones and the streams alike, whatever the algorithm. The last one to come evaluates the numbers for all
(``comm.evaluate``) and asks the level when each is done (``sim.level``). So a collective costs a few switches and no
message, and its numbers are still those of the algorithm, byte for byte.

What is given up: nobody goes on before the last member has come. In a broadcast the root could; here it waits. In
symmetric algorithms (all-reduce, all-gather ...) nobody could anyway.

Calls that do not fit together, in a run that does not check, go message by message as they would on a bare network.
"""

from __future__ import annotations

from typing import Any

from simdist.comm.call import Call
from simdist.comm.evaluate import evaluate
from simdist.tensor.meta import MetaArray

from .assumptions import Observed
from .attendance import Attendance
from .kernel import Kernel, Task
from .level import LEVELS, Level
from .meeting import Meeting, Meetings, Ways
from .network import Network

__all__ = ["Gatherings"]

_NO_SHORT_CUT = Ways(False, None)


class _Gathering(Meeting):
    """A meeting whose members all park.

    Attributes:
        blocking: every member so far blocks in it and has nothing else under way.
        recorded: it is on record for all members.
    """

    __slots__ = ("blocking", "recorded")

    def __init__(self, first: Call) -> None:
        super().__init__(first, _NO_SHORT_CUT, False)
        self.long_way, self.blocking, self.recorded = False, True, False


class Gatherings(Meetings):
    """All collectives of a run at a level above ``messages``.

    Args:
        kernel: the clock.
        network: what carries the user's own messages.
        spans: where collectives are recorded, or None.
        checked: compare the members' calls with each other.
        level: tells when members are done.
    """

    def __init__(
        self, kernel: Kernel, network: Network, spans: list[Any] | None, *, checked: bool, level: Level
    ) -> None:
        super().__init__(kernel, network, spans, checked=checked, shortcut=False)
        self.level = level
        self.observed = Observed(network.cluster, network.flows)

    def attend(self, task: Task, call: Call, quiet: bool) -> tuple[float, float, Meeting] | None:
        """Take part in a collective; on return it is complete on this rank and the task's clock stands at its end.

        Args, returns: as ``Meetings.attend``.
        """
        request = call.request
        members = request.members
        key = (members.id, call.sequence)
        meeting: Any = self.open.get(key)
        if meeting is None:
            meeting = self.open[key] = _Gathering(call)
        elif meeting.signature is not request.signature and not self._compare(meeting, call, task):
            self._let_go(meeting)
        me = members.rank
        meeting.calls[me], meeting.tasks[me], meeting.starts[me] = call, task, task.now
        if call.parts is not None and not meeting.long_way and not self._blocks_fit(meeting, call, task):
            self._let_go(meeting)
        meeting.missing -= 1
        if meeting.long_way:
            return self._go_the_long_way(meeting, task, call)
        meeting.blocking = meeting.blocking and quiet
        if meeting.missing:
            self.kernel.wait(task, meeting)
            if meeting.long_way:
                return self._go_the_long_way(meeting, task, call)
        else:
            del self.open[key]
            self._conclude(meeting, task)
        if not self.kernel.lazy:
            self.kernel.catch_up(task)
        return None if meeting.recorded else (meeting.starts[me], min(meeting.last_arrival, task.now), meeting)

    def notes(self, name: str) -> list[str]:
        """What a person should know if the level called ``name`` was outside its range."""
        return self.observed.notes(LEVELS[name].assumes, name)

    def _let_go(self, meeting: _Gathering) -> None:
        """The calls do not fit together: who is parked goes the long way, message by message."""
        meeting.long_way = True
        for parked in meeting.tasks:
            if parked is not None and parked.waiting is not None:
                self.kernel.wake(parked)

    def _conclude(self, meeting: _Gathering, task: Task) -> None:
        """The last member has come: the numbers, then the times."""
        self.num_replayed += 1
        calls: list[Call] = meeting.calls  # type: ignore[assignment]  # all have come
        meeting.last_arrival = max(meeting.starts)
        if _has_data(calls[0]):
            evaluate(calls)
        table = self.level.tables(calls)
        waiting = True

        def done(ends: list[float]) -> None:
            nonlocal waiting
            waiting = False
            self.observed.collective(calls[0], table, meeting.starts, ends)
            self._release(meeting, ends, task)

        self.level.time(calls, table, meeting.starts, done)
        if waiting:
            self.kernel.wait(task, meeting)
        elif task.now > self.kernel.stop_time:
            self.kernel.advance(task, 0.0)

    def _release(self, meeting: _Gathering, ends: list[float], last: Task) -> None:
        """Everybody's end is known: set the clocks, let them go on."""
        first = meeting.first
        if meeting.blocking:
            meeting.recorded = True
            if self.spans is not None:
                self.spans.append(Attendance(first.request, first.sequence, tuple(meeting.starts), tuple(ends)))
        ready = self.kernel.ready
        asleep = last.waiting is not None
        for other, now in zip(reversed(meeting.tasks), reversed(ends), strict=True):
            assert other is not None
            other.now = max(now, meeting.last_arrival)
            if other is not last or asleep:
                ready.append(other.awake)


def _has_data(call: Call) -> bool:
    array = call.flat if call.flat is not None else next(iter((call.parts or {}).values()), None)
    return array is not None and not isinstance(array, MetaArray)
