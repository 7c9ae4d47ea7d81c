"""How can a rank communicate while it computes?

A stream is a queue of collectives of one process group on one rank. Work in one stream is in order; work in two
streams, or in a stream and the rank's main program, may overlap in time. Each stream is a task with its own clock: an
asynchronous collective begins when it has been issued and its predecessor is done, and ``Work.wait`` brings the
waiting rank's clock to its end. Overlap of communication with computation, and the lack of it, come out of this and
of nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from simdist.comm.call import Call
from simdist.errors import DistTimeoutError
from simdist.units import format_time

from .deadline import limit
from .kernel import Kernel, Task
from .meeting import Meeting, Meetings
from .waiting import Waiting

__all__ = ["Stream", "StreamWork"]

_NOTHING = Waiting("work on its stream")


class StreamWork:
    """A collective issued with ``async_op=True``.

    Attributes:
        issued: when the rank issued it.
        ready: when its waiting for other ranks ended (None until done).
        done: when it was complete on this rank (None until then).
        meeting: where it met the other ranks' calls (None until done).
        on_wait: called by ``wait`` with the time at which the rank began to wait (it moves the rank's clock and
            records).
        on_late: the same for a wait that ended with its own limit.
    """

    __slots__ = ("_stream", "call", "done", "error", "issued", "meeting", "on_late", "on_wait", "ready", "waiter")

    def __init__(self, stream: Stream, call: Call, issued: float) -> None:
        self._stream, self.call, self.issued = stream, call, issued
        self.ready: float | None = None
        self.done: float | None = None
        self.meeting: Meeting | None = None
        self.error: BaseException | None = None
        self.waiter: Task | None = None
        self.on_wait: Callable[[float, StreamWork], None] | None = None
        self.on_late: Callable[[float, StreamWork], None] | None = None

    def wait(self, timeout: float | None = None) -> None:
        """Suspend the running task until the collective is complete.

        Args:
            timeout: seconds after which the wait ends with an error, and can be begun again.

        Raises:
            DistTimeoutError: it took longer than the timeout.
        """
        kernel, call = self._stream.kernel, self.call
        task = kernel.current
        assert task is not None
        began = task.now
        if self.done is None and self.error is None:
            self.waiter = task
            try:
                with limit(kernel, task, timeout, lambda: self._late(task, began, timeout)):
                    kernel.wait(task, Waiting(f"{call.full_label} (asynchronous)", self._blame, call.where))
            except DistTimeoutError:
                if self.on_late is not None:
                    self.on_late(began, self)
                raise
            finally:
                self.waiter = None
        if self.error is not None:
            raise self.error
        if timeout is not None and self.done is not None and self.done - began > timeout:
            task.now = began + timeout
            if self.on_late is not None:
                self.on_late(began, self)
            raise self._late(task, began, timeout)
        if self.on_wait is not None:
            self.on_wait(began, self)

    def _late(self, task: Task, began: float, allowed: float | None) -> DistTimeoutError:
        assert allowed is not None
        return DistTimeoutError(
            f"rank {task.rank} at {format_time(began + allowed)}: {self.call.full_label} took longer than its timeout of "
            f"{format_time(allowed)}. Give it more time, or look for the late rank."
        )

    def _blame(self) -> tuple[int, ...]:
        meeting = self._stream.meetings.open.get((self.call.members.id, self.call.sequence))
        return meeting.ranks() if meeting is not None else ()

    def completed_at(self, now: float) -> bool:
        """Whether the collective is complete at time ``now``."""
        return self.error is not None or (self.done is not None and self.done <= now)


class Stream:
    """The communication stream of one rank for one process group.

    Args:
        kernel: the clock.
        meetings: where collectives meet.
        rank: whose stream it is.
        name: for traces: ``"comm:0"``.
        on_done: called with the time at which the stream began a collective, when that is complete.
    """

    def __init__(
        self, kernel: Kernel, meetings: Meetings, rank: int, name: str, on_done: Callable[[float, StreamWork], None]
    ) -> None:
        self.kernel, self.meetings, self.on_done = kernel, meetings, on_done
        self.queue: deque[StreamWork] = deque()
        self.busy = False
        self.task = kernel.spawn(rank, name, self._body, start=False)

    @property
    def now(self) -> float:
        """The stream's clock: the end of its last finished work."""
        return self.task.now

    def submit(self, call: Call, issued: float) -> StreamWork:
        """Append a collective; it runs as soon as the stream gets to it."""
        work = StreamWork(self, call, issued)
        self.queue.append(work)
        if not self.busy:
            self.busy = True
            self.kernel.wake(self.task)
        return work

    def is_quiet(self, now: float) -> bool:
        """Whether nothing is queued or still running at time ``now``."""
        return not self.busy and self.task.now <= now

    def _body(self, _: object = None) -> None:
        kernel, task = self.kernel, self.task
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
        attended = self.meetings.attend(self.task, work.call, quiet=False)
        assert attended is not None, "only who blocks takes the short cut"
        entered, work.ready, work.meeting = attended
        work.done = self.task.now
        self.on_done(entered, work)
