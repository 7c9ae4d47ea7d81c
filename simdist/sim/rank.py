"""What does one simulated rank have?

A main task with its clock, an accelerator with its memory, a speed, one communication stream per process group, and
the rows that it adds to the trace. This is the simulator's implementation of ``backends.world.World``: what
``simdist.distributed`` and ``sd.compute`` call when they run inside a simulated rank.

Invariant: the spans of the main stream follow each other without gap. Every method that moves the main clock records
why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simdist.comm.call import Call, Members
from simdist.comm.execute import COLLECTIVE_CHANNEL, USER_CHANNEL
from simdist.comm.transport import Tag
from simdist.cost import roofline
from simdist.place import Place
from simdist.tensor.observe import Listener
from simdist.trace.span import MAIN

from .billing import Billing
from .kernel import Task
from .memory import Allocator
from .message import Side
from .speed import Speed
from .stream import Stream, StreamWork
from .waiting import Waiting

if TYPE_CHECKING:
    from .job import Job
    from .meeting import Meeting

__all__ = ["POLL_SECONDS", "GroupTransport", "SimRank"]

POLL_SECONDS = 1e-6
"""What it costs to ask whether work is complete: without a price an asking loop would never let the clock move."""


class GroupTransport:
    """Messages inside one group, on the clock of one task (see ``comm.transport``).

    Attributes:
        waited: seconds for which the task has waited for partners to post.
    """

    __slots__ = ("_job", "_label", "_me", "_ranks", "_task", "rank", "size", "waited")

    def __init__(self, job: Job, task: Task, members: Members, label: str) -> None:
        self._job, self._task, self._ranks, self._label = job, task, members.ranks, label
        self._me = members.ranks[members.rank]
        self.rank, self.size = members.rank, len(members.ranks)
        self.waited = 0.0

    def isend(self, buf: Any, dst: int, tag: Tag) -> Side:
        """Post a send to group rank ``dst``."""
        side = self._job.network.send(self._task.now, self._me, self._ranks[dst], tag, buf, self._label)
        side.on_wait = self._count
        return side

    def irecv(self, buf: Any, src: int, tag: Tag, combine: Any = None) -> Side:
        """Post a receive from group rank ``src``."""
        side = self._job.network.receive(
            self._task.now, self._ranks[src], self._me, tag, buf, combine, src < self.rank, self._label
        )
        side.on_wait = self._count
        return side

    def _count(self, began: float, side: Side) -> None:
        assert side.ready is not None and side.done is not None
        self.waited += max(0.0, min(side.ready, side.done) - began)


class SimRank:
    """One rank of a simulated job."""

    backend = "sim"

    def __init__(self, job: Job, rank: int, speed: Speed) -> None:
        self.job, self.rank, self.speed = job, rank, speed
        self._exact = speed.factor == 1.0 and not speed.jitter
        self.kernel = job.kernel
        self.world_size, self.seed = job.world_size, job.seed
        self.device, self.checked, self.timeout = job.device, job.checked, job.timeout
        self.accelerator = job.cluster.device(rank)
        self.spans = job.spans
        self.main: Task = job.kernel.spawn(rank, MAIN, job.body(self))
        self.allocator = Allocator(rank, self.accelerator.memory, self.now, job.memory)
        self.listener: Listener | None = Billing(self)
        self.streams: dict[int, Stream] = {}
        self.state: dict[str, Any] = {}
        self.notes: list[str] = []
        self.unwaited: dict[Side | StreamWork, str] = {}
        self.billed = 0
        self._open: list[Side] = []

    # -- time -------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The rank's clock, seconds since the start of the run."""
        return self.main.now

    def _record(self, kind: str, name: str, start: float, end: float, details: dict[str, Any] | None = None) -> None:
        if end > start and self.spans is not None:
            self.spans.append((self.rank, MAIN, kind, name, start, end, details))

    def charge(self, kind: str, name: str, seconds: float) -> None:
        """The rank's accelerator is busy for ``seconds`` (times the rank's own speed)."""
        task, kernel = self.main, self.kernel
        if not self._exact:
            seconds = self.speed.stretch(seconds)
        start = task.now
        task.now = end = start + seconds
        if end > kernel.stop_time or not kernel.lazy:
            kernel.advance(task, 0.0)
        if self.spans is not None and end > start:
            self.spans.append((self.rank, MAIN, kind, name, start, end, None))
        kernel.heartbeat += 1
        self.billed += 1

    def compute(self, flops: float, nbytes: float, seconds: float | None, name: str, dtype: str) -> None:
        """Charge work by hand: ``seconds``, or what the roofline says of ``flops`` and ``nbytes``."""
        if seconds is None:
            seconds = roofline.seconds(self.accelerator, flops, nbytes, dtype, None)
        self.charge("compute", name, seconds)

    def sleep(self, seconds: float) -> None:
        """Let time pass without using anything."""
        start = self.main.now
        self.kernel.advance(self.main, seconds)
        self._record("sleep", "sleep", start, self.main.now)

    def join(self, began: float, ready: float, done: float, meeting: Meeting) -> None:
        """The main program has waited from ``began`` for a collective that began to move bytes at ``ready``."""
        task = self.main
        if done > task.now:
            task.now = done
            self.kernel.advance(task, 0.0)
        moved = max(began, min(ready, done))
        self._record("wait", meeting.label, began, moved, meeting.blame)
        self._record("communication", meeting.label, moved, task.now, meeting.details)

    # -- messages ---------------------------------------------------------------------------------------------------

    def transport(self, task: Task, call: Call) -> GroupTransport:
        """The way out for a collective that runs message by message."""
        return GroupTransport(self.job, task, call.members, call.full_label)

    def isend(self, buf: Any, dst: int, tag: Tag, where: Place | None) -> Side:
        """Post a message of the user's to global rank ``dst``."""
        return self._posted(self.job.network.send(self.main.now, self.rank, dst, tag, buf, _label(tag)), where)

    def irecv(self, buf: Any, src: int, tag: Tag, where: Place | None) -> Side:
        """Be ready for a message of the user's from global rank ``src``."""
        side = self.job.network.receive(self.main.now, src, self.rank, tag, buf, None, False, _label(tag))
        return self._posted(side, where)

    def _posted(self, side: Side, where: Place | None) -> Side:
        side.on_wait, side.timeout, side.where = self._waited, self.timeout, where
        self._open.append(side)
        self.unwaited[side] = side.text
        return side

    def _waited(self, began: float, side: Side) -> None:
        assert side.ready is not None and side.done is not None
        del self.unwaited[side]
        moved = max(began, min(side.ready, side.done))
        self._record("wait", side.text, began, moved, {"for": [side.peer], "op": side.text})
        self._record("communication", side.text, moved, self.main.now, {"op": side.text})

    # -- collectives ------------------------------------------------------------------------------------------------

    def collective(self, call: Call, async_op: bool) -> StreamWork | None:
        """Take part in a collective: at once, or on the group's stream."""
        group = call.request.members.id
        stream = self.streams.get(group)
        if async_op:
            if stream is None:
                stream = self._stream(group)
            work = stream.submit(call, self.main.now)
            self.unwaited[work] = call.label
            return work
        if stream is not None and not stream.is_quiet(self.main.now):
            stream.submit(call, self.main.now).wait()
            return None
        task = self.main
        entered, ready, meeting = self.job.meetings.attend(self, task, call, self._is_quiet())
        now = task.now
        if self.timeout is not None and now - entered > self.timeout:
            self.job.late(self, call, entered)
        if self.spans is not None:
            self._record_meeting(MAIN, meeting, entered, ready, now)
            self._record_meeting(f"comm:{group}", meeting, entered, ready, now)
        return None

    def _record_meeting(self, stream: str, meeting: Meeting, entered: float, ready: float, end: float) -> None:
        assert self.spans is not None
        if ready > entered:
            self.spans.append((self.rank, stream, "wait", meeting.label, entered, ready, meeting.blame))
        if end > ready:
            self.spans.append((self.rank, stream, "communication", meeting.label, ready, end, meeting.details))

    def record_stream(self, stream: str, meeting: Meeting, entered: float, ready: float, end: float) -> None:
        """Add an asynchronous collective to the trace as a span of the group's communication stream."""
        if self.spans is not None:
            self._record_meeting(stream, meeting, entered, ready, end)

    def _stream(self, group: int) -> Stream:
        stream = self.streams[group] = Stream(self, f"comm:{group}")
        self.job.network.with_streams.add(self.rank)
        return stream

    def _is_quiet(self) -> bool:
        now = self.main.now
        if self._open:
            self._open = [side for side in self._open if not side.completed_at(now)]
            if self._open:
                return False
        return not self.streams or all(stream.is_quiet(now) for stream in self.streams.values())

    # -- asking -----------------------------------------------------------------------------------------------------

    def is_completed(self, work: Side | StreamWork) -> bool:
        """Whether ``work`` is complete now. Asking takes a microsecond of simulated time."""
        task = self.main
        start = task.now
        self.kernel.catch_up(task)
        self.kernel.advance(task, POLL_SECONDS)
        self.kernel.catch_up(task)
        self._record("compute", "is_completed", start, task.now)
        return work.completed_at(task.now)

    def wait_text(self) -> str:
        """What the rank waits for now, for a person."""
        waiting = self.main.waiting or Waiting("nothing")
        return waiting.what


def _label(tag: Tag) -> str:
    group, channel, number = tag
    assert channel in (USER_CHANNEL, COLLECTIVE_CHANNEL)
    return f"tag {number}" if not group else f"tag {number} in group {group}"
