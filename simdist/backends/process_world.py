"""What does a rank see of its backend when it is a real process?

The same ``World`` as in simulation, over a ``process.Endpoint``. The same executor runs the same steps of a
collective (``comm.execute``), so the numbers are equal bit for bit. Asynchronous collectives run on one thread per
process group, in order, as on a stream; a blocking one joins the queue if there is one.

Times are measured. The main stream of the trace is tiled like a simulated one: what lies between two communications
is computing.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from simdist import place
from simdist.comm.call import Call, Members
from simdist.comm.choose import Chooser
from simdist.comm.entry import Entry
from simdist.comm.envelope import Envelope
from simdist.comm.execute import execute
from simdist.comm.transport import Tag, Transport, tag_text
from simdist.errors import ClusterError, DistTimeoutError
from simdist.place import Place
from simdist.tensor.observe import Listener
from simdist.trace.span import MAIN

from .process.endpoint import Endpoint
from .process.launcher import launch as launch_processes
from .process.mailbox import ANYONE
from .process.options import ProcessOptions
from .process.work import Work
from .program import Program
from .settings import Outcome, Settings
from .unwaited import remarks
from .world import Commons

__all__ = ["ProcessWorld", "launch", "outcome_of", "real_options", "serve"]

DEFAULT_TIMEOUT = 300.0
"""Seconds that one wait may take on real processes, where a deadlock cannot be seen at once."""

_ENVELOPES = 1024  # how many are kept


class _GroupTransport:
    """Messages inside one group for one collective; the note makes both sides compare what they think they are doing."""

    __slots__ = ("_call", "_endpoint", "_note", "_ranks", "rank", "size")

    def __init__(self, endpoint: Endpoint, call: Call, checked: bool) -> None:
        members: Members = call.members
        self._endpoint, self._call, self._ranks = endpoint, call, members.ranks
        self.rank, self.size = members.rank, len(members.ranks)
        self._note = Entry.of(call).pack() if checked else b""

    def _label(self) -> str:
        return f"{self._call.full_label} at {place.text(self._call.where)}"

    def isend(self, buf: Any, dst: int, tag: Tag) -> Work:
        """Post a send to group rank ``dst`` (the executor leaves the buffer alone until it is done)."""
        return self._endpoint.isend(buf, self._ranks[dst], tag, self._note, owned=True, label=self._label)

    def irecv(self, buf: Any, src: int, tag: Tag, combine: Any = None) -> Work:
        """Post a receive from group rank ``src``."""
        return self._endpoint.irecv(buf, self._ranks[src], tag, combine, self._note, label=self._label)


class _ThreadWork:
    """A collective on a communication thread."""

    def __init__(self, world: ProcessWorld, call: Call) -> None:
        self.world, self.call = world, call
        self.error: BaseException | None = None
        self._done = threading.Event()

    def wait(self, timeout: float | None = None) -> None:
        """Block until it is complete; raise what made it fail, or that it took longer than ``timeout`` seconds."""
        began = self.world.now()
        self.world.unwaited.pop(self, None)
        if not self._done.wait(timeout):
            self.world.record(began, "communication", self.call.label)
            raise DistTimeoutError(
                f"rank {self.world.rank}: {self.call.full_label} took longer than its timeout of {timeout:g} s. Give it more "
                "time, or look for the late rank."
            )
        self.world.record(began, "communication", self.call.label)
        if self.error is not None:
            raise self.error

    def is_completed(self) -> bool:
        """Whether it is complete now."""
        return self._done.is_set()

    def perform(self) -> None:
        """Run it (on the communication thread)."""
        try:
            self.world.perform(self.call)
        except BaseException as error:
            self.error = error
        self._done.set()


_Queue = queue.SimpleQueue[_ThreadWork | None]

Native = Callable[[Call, Transport], bool]
"""Carries out a collective in another way than by its steps; False if it cannot do this one."""


class ProcessWorld:
    """One rank in a process of its own."""

    backend = "process"
    commons: Commons | None = None

    def __init__(self, endpoint: Endpoint, options: ProcessOptions) -> None:
        self.endpoint = endpoint
        self.rank, self.world_size = endpoint.rank, endpoint.world_size
        self.seed, self.device, self.checked = options.seed, options.device, options.checked
        self.timeout: float | None = options.timeout
        self.chooser = Chooser(options.cluster, options.extra.get("algorithms", {}))
        self.state: dict[str, Any] = {}
        self.notes: list[str] = []
        self.unwaited: dict[_Recorded | _ThreadWork, str] = {}
        self.listener: Listener | None = None
        self.spans: list[Any] = []
        self.native: Native | None = None
        self._envelopes: dict[
            tuple[Any, ...], tuple[bytes, object]
        ] = {}  # keeps the code object: so its id stays its own
        self._mark = 0.0
        self._queues: dict[int, tuple[_Queue, threading.Thread]] = {}
        self._last: dict[int, _ThreadWork] = {}

    # -- time -------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Seconds since the common start of all ranks."""
        return self.endpoint.now()

    def sleep(self, seconds: float) -> None:
        """Sleep for real."""
        began = self.now()
        time.sleep(seconds)
        self.record(began, "sleep", "sleep")

    def charge(self, kind: str, name: str, seconds: float) -> None:
        """Nothing: on a real backend work takes the time it takes."""

    def compute(self, flops: float, nbytes: float, name: str, dtype: str) -> None:
        """Nothing, for the same reason."""

    def record(self, began: float, kind: str, name: str) -> None:
        """The main program did ``kind`` from ``began`` until now, and computed before that."""
        end = self.now()
        began = max(began, self._mark)
        if began > self._mark:
            self.spans.append((self.rank, MAIN, "compute", "python", self._mark, began, None))
        if end > began:
            self.spans.append((self.rank, MAIN, kind, name, began, end, {"op": name, "exposed": True}))
            self._mark = end

    # -- messages ---------------------------------------------------------------------------------------------------

    def isend(self, buf: Any, dst: int, tag: Tag, where: Place | None) -> Any:
        """Post a message of the user's to global rank ``dst``."""
        note = self._envelope(buf, where)
        work = self.endpoint.isend(buf, dst, tag, note, label=lambda: f"send at {place.text(where)}")
        return self._posted(work, "send", f"{tag_text(tag)}: send to rank {dst}")

    def irecv(self, buf: Any, src: int | tuple[int, ...], tag: Tag, where: Place | None) -> Any:
        """Be ready for a message of the user's from global rank ``src``, or from whichever of several ranks sends first."""
        note = self._envelope(buf, where)
        source, who = (ANYONE, "any rank") if isinstance(src, tuple) else (src, f"rank {src}")
        work = self.endpoint.irecv(buf, source, tag, note=note, label=lambda: f"recv at {place.text(where)}")
        return self._posted(work, "recv", f"{tag_text(tag)}: recv from {who}")

    def _envelope(self, buf: Any, where: Place | None) -> bytes:
        """What a message of the user's says about itself; to work out a line is dear, so it is kept."""
        code, instruction = where if where is not None else (None, 0)
        key = (id(code), instruction, buf.shape, buf.dtype)
        found = self._envelopes.get(key)
        if found is None:
            if len(self._envelopes) >= _ENVELOPES:
                self._envelopes.clear()
            found = self._envelopes[key] = Envelope(buf.shape, buf.dtype, where).pack(), code
        return found[0]

    def _posted(self, work: Work, name: str, text: str) -> _Recorded:
        recorded = _Recorded(self, work, name)
        self.unwaited[recorded] = text
        return recorded

    # -- collectives ------------------------------------------------------------------------------------------------

    def perform(self, call: Call) -> None:
        """Run a collective on the calling thread and record it on the group's stream."""
        began = self.now()
        transport = _GroupTransport(self.endpoint, call, self.checked)
        if self.native is None or not self.native(call, transport):
            execute(call, transport)
        stream = f"comm:{call.members.id}"
        self.spans.append((self.rank, stream, "communication", call.label, began, self.now(), call.details))

    def collective(self, call: Call, async_op: bool) -> _ThreadWork | None:
        """Take part in a collective: at once, or on the group's thread."""
        group = call.members.id
        last = self._last.get(group)
        if not async_op and (last is None or last.is_completed()):
            began = self.now()
            self.perform(call)
            self.record(began, "communication", call.label)
            return None
        work = self._last[group] = _ThreadWork(self, call)
        self._queue(group).put(work)
        if async_op:
            self.unwaited[work] = call.label
            return work
        work.wait()
        return None

    def agree(self, call: Call) -> None:
        """Return when every rank of the group has made an equal call: the messages of its algorithm carry the question."""
        self.collective(call, async_op=False)

    def _queue(self, group: int) -> _Queue:
        found = self._queues.get(group)
        if found is None:
            waiting: _Queue = queue.SimpleQueue()
            thread = threading.Thread(target=_serve_queue, args=(waiting,), name=f"simdist-comm-{group}", daemon=True)
            thread.start()
            found = self._queues[group] = waiting, thread
        return found[0]

    def is_completed(self, work: Any) -> bool:
        """Whether ``work`` is complete now."""
        return bool(work.is_completed())

    def abandon(self) -> None:
        """The rank has failed: the threads end when they come to it."""
        for waiting, _ in self._queues.values():
            waiting.put(None)

    def finish(self) -> tuple[list[Any], list[str], float]:
        """The rank has returned: end the threads, close the trace; returns its rows, its notes, and when that was."""
        self.abandon()
        for _, thread in self._queues.values():
            thread.join()
        end = self.now()
        if end > self._mark:
            self.spans.append((self.rank, MAIN, "compute", "python", self._mark, end, None))
        return self.spans, self.notes + remarks(self.rank, list(self.unwaited.values())), end


class _Recorded:
    """A message whose waiting appears in the trace."""

    __slots__ = ("_name", "_work", "_world")

    def __init__(self, world: ProcessWorld, work: Work, name: str) -> None:
        self._world, self._work, self._name = world, work, name

    @property
    def peer(self) -> int:
        """The global rank of the other side."""
        return self._work.peer

    def wait(self, timeout: float | None = None) -> None:
        began = self._world.now()
        self._world.unwaited.pop(self, None)
        self._work.wait(timeout)
        self._world.record(began, "communication", self._name)

    def is_completed(self) -> bool:
        return self._work.is_completed()


def _serve_queue(waiting: _Queue) -> None:
    while (work := waiting.get()) is not None:
        work.perform()


# -- launching ----------------------------------------------------------------------------------------------------------------


def serve(
    rank: int,
    world_size: int,
    endpoint: Endpoint,
    options: ProcessOptions,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
) -> tuple[Any, Any]:
    """What a worker calls: make a World, enter the rank, return its result and its part of the trace."""
    module, _, name = options.extra["entry"].partition(":")
    world = ProcessWorld(endpoint, options)
    result = getattr(import_module(module), name)(world, fn, args, options.extra["kwargs"])
    return result, world.finish()


def launch(program: Program, entry: Callable[..., Any], settings: Settings) -> Outcome:
    """Run the program on local processes.

    Args:
        program: the user's function and arguments.
        entry: what makes a rank out of a World; travels by name.
        settings: how; stragglers and jitter belong to simulation and are refused.

    Raises:
        What ``backends.process.launch`` raises.
    """
    options = real_options(settings, "process", entry, program)
    done = launch_processes(
        program.fn, program.args, world_size=settings.world_size, options=options, entry=f"{__name__}:{serve.__name__}"
    )
    return outcome_of(done.results, done.payloads, settings.traced)


def real_options(settings: Settings, backend: str, entry: Callable[..., Any], program: Program) -> ProcessOptions:
    """What the ranks of a real run are told.

    Raises:
        ClusterError: something is asked for that only a simulation can do.
    """
    if settings.stragglers or settings.jitter:
        raise ClusterError(
            f"stragglers and jitter are simulated; on backend={backend!r} machines are as fast as they are."
        )
    return ProcessOptions(
        timeout=DEFAULT_TIMEOUT if settings.timeout is None else settings.timeout,
        seed=settings.seed,
        checked=settings.checked,
        device=settings.device,
        cluster=settings.cluster,
        eager_limit=settings.eager_limit,
        extra={
            "entry": f"{entry.__module__}:{entry.__qualname__}",
            "kwargs": dict(program.kwargs or {}),
            "algorithms": dict(settings.algorithms),
        },
    )


def outcome_of(results: list[Any], payloads: list[Any], traced: bool) -> Outcome:
    """The outcome of a real run, from what each rank returned and what its ``finish`` gave."""
    ends = [payload[2] for payload in payloads]
    end = max(ends, default=0.0)
    spans = [row for payload in payloads for row in payload[0]] if traced else []
    if traced:
        spans += [(rank, MAIN, "idle", "returned", t, end, None) for rank, t in enumerate(ends) if t < end]
    notes = [note for payload in payloads for note in payload[1]]
    return Outcome(results, end, ends, sorted(spans, key=lambda row: (row[4], row[0], row[1])), [], [], [], notes)
