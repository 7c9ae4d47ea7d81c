"""How can a rank communicate while it computes?

A stream is a queue of collectives of one process group on one rank. Work in one stream is in order; work in two
streams, or in a stream and the rank's main program, may overlap in time. Each stream is a task with its own clock: an
asynchronous collective begins when it has been issued and its predecessor is done, and ``Work.wait`` brings the
waiting rank's clock to its end. Overlap of communication with computation, and the lack of it, come out of this and
of nothing else.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from simdist.comm.call import Call

from .kernel import Task
from .waiting import Waiting

if TYPE_CHECKING:
    from .meeting import Meeting
    from .rank import SimRank

__all__ = ["Stream", "StreamWork"]

_NOTHING = Waiting("work on its stream")


class StreamWork:
    """A collective issued with ``async_op=True``.

    Attributes:
        issued: when the rank issued it.
        ready: when its waiting for other ranks ended (None until done).
        done: when it was complete on this rank (None until then).
    """

    __slots__ = ("call", "done", "error", "issued", "meeting", "rank", "ready", "waiter")

    def __init__(self, rank: SimRank, call: Call, issued: float) -> None:
        self.rank, self.call, self.issued = rank, call, issued
        self.ready: float | None = None
        self.done: float | None = None
        self.meeting: Meeting | None = None
        self.error: BaseException | None = None
        self.waiter: Task | None = None

    def wait(self) -> None:
        """Suspend the rank until the collective is complete."""
        task = self.rank.main
        began = task.now
        self.rank.unwaited.pop(self, None)
        if self.done is None and self.error is None:
            self.waiter = task
            call = self.call
            self.rank.kernel.wait(task, Waiting(f"{call.full_label} (asynchronous)", self._blame, call.where))
            self.waiter = None
        if self.error is not None:
            raise self.error
        assert self.done is not None and self.ready is not None
        assert self.meeting is not None
        self.rank.join(began, self.ready, self.done, self.meeting)

    def _blame(self) -> tuple[int, ...]:
        meeting = self.rank.job.meetings.open.get((self.call.members.id, self.call.sequence))
        return meeting.ranks() if meeting is not None else ()

    def completed_at(self, now: float) -> bool:
        """Whether the collective is complete at time ``now``."""
        return self.error is not None or (self.done is not None and self.done <= now)


class Stream:
    """The communication stream of one rank for one process group."""

    def __init__(self, rank: SimRank, name: str) -> None:
        self.rank, self.name = rank, name
        self.queue: deque[StreamWork] = deque()
        self.busy = False
        self.task = rank.kernel.spawn(rank.rank, name, self._body, start=False)

    @property
    def now(self) -> float:
        """The stream's clock: the end of its last finished work."""
        return self.task.now

    def submit(self, call: Call, issued: float) -> StreamWork:
        """Append a collective; it runs as soon as the stream gets to it."""
        work = StreamWork(self.rank, call, issued)
        self.queue.append(work)
        if not self.busy:
            self.busy = True
            self.rank.kernel.wake(self.task)
        return work

    def is_quiet(self, now: float) -> bool:
        """Whether nothing is queued or still running at time ``now``."""
        return not self.busy and self.task.now <= now

    def _body(self, _: object = None) -> None:
        kernel, task = self.rank.kernel, self.task
        while True:
            while self.queue:
                work = self.queue[0]
                if work.issued > task.now:
                    task.now = work.issued
                    kernel.advance(task, 0.0)
                try:
                    self._perform(work)
                except Exception as error:
                    work.error = error
                self.queue.popleft()
                if work.waiter is not None:
                    kernel.wake(work.waiter)
            self.busy = False
            kernel.wait(task, _NOTHING)

    def _perform(self, work: StreamWork) -> None:
        entered, ready, meeting = self.rank.job.meetings.attend(self.rank, self.task, work.call, quiet=False)
        work.ready, work.done, work.meeting = ready, self.task.now, meeting
        self.rank.record_stream(self.name, meeting, entered, ready, self.task.now)
