"""What does one simulated rank have?

A main task with its clock, an accelerator with its memory, a speed, one communication stream per process group, and
the rows that it adds to the trace. This is the simulator's implementation of ``backends.world.World``: what
``simdist.distributed`` and ``sd.compute`` call when they run inside a simulated rank.

Invariant: the spans of the main stream follow each other without gap. Every method that moves the main clock records
why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simdist.comm.call import Call
from simdist.comm.envelope import Envelope
from simdist.comm.transport import Tag, tag_text
from simdist.cost import roofline
from simdist.errors import DistTimeoutError
from simdist.place import Place
from simdist.tensor.observe import Listener
from simdist.trace.span import MAIN
from simdist.units import format_time

from .attendance import spans
from .billing import Billing
from .commons import Commons
from .kernel import Task
from .meeting import Meeting
from .memory import Allocator
from .message import Side
from .site import Site
from .speed import Speed
from .stream import Stream, StreamWork
from .waiting import Waiting

__all__ = ["POLL_SECONDS", "SimRank"]

POLL_SECONDS = 1e-6
"""What it costs to ask whether work is complete: without a price an asking loop would never let the clock move."""


class SimRank:
    """One rank of a simulated job."""

    backend = "sim"

    def __init__(self, site: Site, rank: int, speed: Speed, program: Callable[[SimRank], None]) -> None:
        self.site, self.rank, self.speed = site, rank, speed
        self._attend = site.meetings.attend
        self._exact = speed.factor == 1.0 and not speed.jitter
        self.kernel = site.kernel
        self.world_size, self.seed = site.world_size, site.seed
        self.device, self.checked, self.timeout = site.device, site.checked, site.timeout
        self.chooser = site.chooser
        self.accelerator = site.cluster.device(rank)
        self.spans = site.spans
        self.main: Task = site.kernel.spawn(rank, MAIN, lambda _=None: program(self))
        self.allocator = Allocator(rank, self.accelerator.memory, self.now, site.memory)
        self.listener: Listener | None = Billing(self.charge, self.accelerator, self.allocator)
        self.streams: dict[int, Stream] = {}
        self.state: dict[str, Any] = {}
        self.notes: list[str] = []
        self.commons: Commons | None = Commons(self)
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
        task = self.main
        if not self._exact:
            seconds = self.speed.stretch(seconds)
        start = task.now
        task.now = end = start + seconds
        if end > self.kernel.horizon:
            self.kernel.advance(task, 0.0)
        if self.spans is not None and end > start:
            self.spans.append((self.rank, MAIN, kind, name, start, end, None))
        self.billed += 1

    def compute(self, flops: float, nbytes: float, name: str, dtype: str) -> None:
        """Charge what the roofline says of ``flops`` and ``nbytes``."""
        self.charge("compute", name, roofline.seconds(self.accelerator, flops, nbytes, dtype, None))

    def sleep(self, seconds: float) -> None:
        """Let time pass without using anything."""
        start = self.main.now
        self.kernel.advance(self.main, seconds)
        self._record("sleep", "sleep", start, self.main.now)

    # -- messages ---------------------------------------------------------------------------------------------------

    def isend(self, buf: Any, dst: int, tag: Tag, where: Place | None) -> Side:
        """Post a message of the user's to global rank ``dst``."""
        envelope = Envelope(buf.shape, buf.dtype, where)
        side = self.site.network.send(self.main.now, self.rank, dst, tag, buf.reshape(-1), tag_text(tag), envelope)
        return self._posted(side, where)

    def irecv(self, buf: Any, src: int | tuple[int, ...], tag: Tag, where: Place | None) -> Side:
        """Be ready for a message of the user's from global rank ``src``, or from whichever of several ranks sends first."""
        envelope, flat = Envelope(buf.shape, buf.dtype, where), buf.reshape(-1)
        network = self.site.network
        if isinstance(src, tuple):
            side = network.receive_any(self.main.now, src, self.rank, tag, flat, tag_text(tag), envelope)
            return self._posted(side, where)
        side = network.receive(self.main.now, src, self.rank, tag, flat, None, False, tag_text(tag), envelope)
        return self._posted(side, where)

    def _posted(self, side: Side, where: Place | None) -> Side:
        side.on_wait, side.timeout, side.where = self._waited, self.timeout, where
        side.on_late = self._gave_up
        self._open.append(side)
        self.unwaited[side] = side.text
        return side

    def _waited(self, began: float, side: Side) -> None:
        assert side.ready is not None and side.done is not None
        del self.unwaited[side]
        moved = max(began, min(side.ready, side.done))
        self._record("wait", side.text, began, moved, {"for": [side.peer], "op": side.text})
        self._record("communication", side.text, moved, self.main.now, {"op": side.text})

    def _gave_up(self, began: float, work: Side | StreamWork) -> None:
        """The main program has waited since ``began``, and waits no longer."""
        text = work.text if isinstance(work, Side) else work.call.label
        self._record("wait", text, began, self.main.now, {"op": text})

    # -- collectives ------------------------------------------------------------------------------------------------

    def collective(self, call: Call, async_op: bool) -> StreamWork | None:
        """Take part in a collective: at once, or on the group's stream."""
        if async_op:
            return self._submit(call)
        task, quiet = self.main, True
        if self.streams or self._open:
            stream = self.streams.get(call.request.members.id)
            if stream is not None and not stream.is_quiet(task.now):
                self._submit(call).wait()
                return None
            quiet = self._is_quiet()
        if self.timeout is None:
            attended = self._attend(task, call, quiet)
        else:
            attended = self._in_time(call, quiet, self.timeout)
        if attended is not None:
            self._record_attended(*attended)
        return None

    def _record_attended(self, entered: float, ready: float, meeting: Meeting) -> None:
        if self.spans is not None:
            for stream in (MAIN, f"comm:{meeting.group.id}"):
                self.spans += spans(meeting.words, self.rank, stream, entered, ready, self.main.now)

    def _in_time(self, call: Call, quiet: bool, limit: float) -> tuple[float, float, Meeting] | None:
        """Take part in a collective that may take ``limit`` seconds."""
        entered = self.main.now
        attended = self._attend(self.main, call, quiet)
        if self.main.now - entered > limit:
            raise self._too_late(entered, call, limit)
        return attended

    def _too_late(self, entered: float, call: Call, limit: float) -> DistTimeoutError:
        return DistTimeoutError(
            f"rank {self.rank} at {format_time(entered + limit)}: {call.full_label} took longer than its timeout of "
            f"{format_time(limit)}. Give it more time, or look for the late rank."
        )

    def agree(self, call: Call) -> None:
        """Return when every rank of the group has made an equal call: that takes no time but the waiting for the last."""
        entered = self.main.now
        meeting = self.site.meetings.agree(self.main, call)
        if self.timeout is not None and self.main.now - entered > self.timeout:
            raise self._too_late(entered, call, self.timeout)
        if self.spans is not None:
            self.spans += spans(meeting.words, self.rank, MAIN, entered, self.main.now, self.main.now)

    def _submit(self, call: Call) -> StreamWork:
        group = call.request.members.id
        stream = self.streams.get(group)
        if stream is None:
            stream = self._stream(group)
        work = stream.submit(call, self.main.now)
        work.on_wait, work.on_late = self._joined, self._gave_up
        self.unwaited[work] = call.label
        return work

    def _joined(self, began: float, work: StreamWork) -> None:
        """The main program has waited since ``began`` for a collective on a stream."""
        task, meeting = self.main, work.meeting
        self.unwaited.pop(work, None)
        assert work.done is not None and work.ready is not None and meeting is not None
        if work.done > task.now:
            task.now = work.done
            self.kernel.advance(task, 0.0)
        moved = max(began, min(work.ready, work.done))
        if self.spans is not None:
            self.spans += spans(meeting.words, self.rank, MAIN, began, moved, task.now)

    def _stream(self, group: int) -> Stream:
        name = f"comm:{group}"

        def done(entered: float, work: StreamWork) -> None:
            if self.spans is not None:
                assert work.meeting is not None and work.ready is not None and work.done is not None
                self.spans += spans(work.meeting.words, self.rank, name, entered, work.ready, work.done)

        stream = self.streams[group] = Stream(self.kernel, self.site.meetings, self.rank, name, done)
        self.site.network.with_streams.add(self.rank)
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
