"""When does it happen? The clock, and who runs next.

Ranks are plain blocking functions, each in a greenlet. Three rules make the simulation fast and its result
independent of the order of execution:

1. **Every task has its own clock** (``Task.now``). Computing adds to it and makes no event.
2. **A stack of runnable tasks** (last in, first out: it stays inside one group of ranks, where the caches are warm).
   A task runs until it must wait; then the next one runs. Only when the stack is empty does SimPy's environment take
   its next event.
3. **What depends on order goes through SimPy**: messages on links that several senders share, polling, timers. Such
   an event is scheduled at an absolute time, and all events happen in the order (time, insertion).

Why that is right. Programs of blocking sends and receives with named partners are Kahn networks: what they compute,
and when, does not depend on which runnable task runs first. And nothing is ever posted into the past: a task made
runnable while the environment stands at T has a clock of at least T.

In **strict mode** every advance of a clock is a SimPy event, so that tasks run in the order of time. It is slow and
obvious, and the lazy mode is tested against it, bit for bit.

Source of the idea of local clocks: Kahn, "The semantics of a simple language for parallel programming", IFIP 1974;
Fujimoto, "Parallel and Distributed Simulation Systems", 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from heapq import heappush
from typing import Any

import greenlet
import simpy
from simpy.events import NORMAL, Event, EventPriority

from simdist.errors import RankFailedError

from .waiting import Reason, Waiting

__all__ = ["Kernel", "Stopped", "Task"]


class Stopped(greenlet.GreenletExit):
    """Thrown into a task that must end because the run is over."""


class Task:
    """Something that runs under the clock: a rank's main program, or one of its communication streams.

    Attributes:
        now: the task's own clock, seconds.
        rank: the rank it belongs to.
        name: ``"main"`` or the stream's name.
        waiting: what it waits for while suspended, else None.
        finished: the function has returned or raised.
        awake: the task with the word that all is well, as it goes on the stack.
    """

    __slots__ = ("awake", "finished", "greenlet", "kernel", "name", "now", "rank", "waiting")

    def __init__(self, kernel: Kernel, rank: int, name: str, body: Callable[..., None]) -> None:
        self.kernel, self.rank, self.name = kernel, rank, name
        self.now = 0.0
        self.waiting: Reason | None = None
        self.finished = False
        self.awake = self, True
        self.greenlet = greenlet.greenlet(partial(_at_the_start, body), kernel.hub)
        self.greenlet.gr_context = copy_context()


class Kernel:
    """The clock and the scheduler of one run.

    Args:
        lazy: False for strict mode (an event per advance).

    Attributes:
        stop_time: no task goes on after it.
        ready: the stack of tasks that can run, each with the value that it is given.
        direct: the same stack, for a task that waits and switches to the next one itself; empty once something has gone
            wrong, so that the main loop sees every switch.
        horizon: a clock that stays at or before it may be moved by adding to it; beyond it, ``advance`` must know.
    """

    def __init__(self, *, lazy: bool = True) -> None:
        self.env = simpy.Environment()
        self.lazy = lazy
        self.hub = greenlet.getcurrent()
        self.ready: list[tuple[Task, Any]] = []
        self.direct = self.ready
        self.tasks: list[Task] = []
        self.current: Task | None = None
        self.stop_time = float("inf")
        self.horizon = self.stop_time if lazy else -self.stop_time
        self.heartbeat = 0
        self.given_up = False

    # -- tasks ------------------------------------------------------------------------------------------------------

    def spawn(self, rank: int, name: str, body: Callable[..., None], *, start: bool = True) -> Task:
        """Make a task; it begins to run when the scheduler reaches it (or when woken, with ``start=False``)."""
        task = Task(self, rank, name, body)
        self.tasks.append(task)
        task.greenlet.switch(greenlet.getcurrent())
        if start:
            self.ready.append((task, None))
        return task

    def wait(self, task: Task, waiting: Reason) -> Any:
        """Suspend ``task`` (the running one) until somebody wakes it; the only place where a task is left.

        Straight to the next runnable task, if there is one: by way of the main loop it would cost two switches.

        Returns:
            What ``wake`` was given. An exception given to ``throw`` is raised here.
        """
        task.waiting = waiting
        ready = self.direct
        try:
            if ready:
                other, value = ready.pop()
                self.current = other
                value = other.greenlet.switch(value)
            else:
                value = self.hub.switch()
        except greenlet.GreenletExit:
            if self.given_up:
                self._sleep_for_ever()
            raise
        task.waiting = None
        return value

    def wake(self, task: Task, value: Any = None) -> None:
        """Let ``task`` go on with ``value`` as the result of its wait."""
        self.ready.append((task, value))

    def throw(self, task: Task, error: BaseException) -> None:
        """Let ``task`` go on with ``error`` raised at its wait."""
        self.direct = []
        self.ready.append((task, _Raise(error)))

    def stop(self, time: float) -> None:
        """Let nothing happen after ``time``."""
        self.direct = []
        self.stop_time = min(self.stop_time, time)
        self.horizon = min(self.horizon, time)

    # -- time -------------------------------------------------------------------------------------------------------

    def advance(self, task: Task, seconds: float) -> None:
        """Move the task's clock forward: an addition in lazy mode, an event in strict mode."""
        task.now += seconds
        if task.now > self.stop_time:
            raise Stopped
        if not self.lazy:
            self.catch_up(task)

    def catch_up(self, task: Task) -> None:
        """Suspend the running task until the environment's clock has reached its own."""
        self._schedule(task.now, self._resume, task)
        self.wait(task, _CLOCK)

    def at(self, time: float, callback: Callable[[], None], *, last: bool = False) -> None:
        """Call back at the absolute ``time``: events of one time happen in the order in which they were scheduled.

        Args:
            time: seconds; now, if it has passed.
            callback: what is called.
            last: after all events of that time that are not ``last`` themselves.
        """
        self._schedule(time, _call_back, callback, _LAST if last else NORMAL)

    def _schedule(
        self, time: float, handler: Callable[[Any], None], value: Any, priority: EventPriority = NORMAL
    ) -> None:
        """Put an event on the environment's heap that calls ``handler(event)``, with ``value`` as the event's value.

        SimPy's own ``schedule`` takes a delay, and now + (time - now) need not be ``time`` in floating point; so this does what
        ``Environment.schedule`` does, with the time itself.
        """
        env = self.env
        event = Event(env)
        event._ok, event._value = True, value
        event.callbacks = [handler]
        now = env._now
        heappush(env._queue, (time if time > now else now, priority, next(env._eid), event))

    def _resume(self, event: Any) -> None:
        self.ready.append((event._value, None))

    # -- the main loop ----------------------------------------------------------------------------------------------

    def run(self, on_failure: Callable[[Task, BaseException], None]) -> None:
        """Run until nothing can run any more.

        Args:
            on_failure: called when an exception leaves a task; decides what is kept (and may ``stop``).
        """
        ready, env = self.ready, self.env
        while True:
            while ready:
                task, value = ready.pop()
                if task.finished:
                    continue
                self.current = task
                self.heartbeat += 1
                try:
                    if ready is self.direct:
                        task.greenlet.switch(value)
                    else:
                        self._resume_or_end(task, value)
                except greenlet.GreenletExit:
                    pass
                except KeyboardInterrupt:
                    self.current.finished = True
                    raise
                except BaseException as error:
                    self._failed(self.current, error, on_failure)
                else:
                    if self.current.waiting is not None:
                        continue
                if self.current.greenlet.dead:
                    self.current.finished = True
            if not env._queue:
                break
            env.step()
        self.current = None

    def _resume_or_end(self, task: Task, value: Any) -> None:
        """Switch to ``task`` in a run in which something has gone wrong: an error may be for it, or its time be over."""
        error = value.error if value.__class__ is _Raise else Stopped() if task.now > self.stop_time else None
        if error is None:
            task.greenlet.switch(value)
        else:
            task.waiting = None
            task.greenlet.throw(error)

    @staticmethod
    def _failed(task: Task, error: BaseException, on_failure: Callable[[Task, BaseException], None]) -> None:
        task.finished = True
        if isinstance(error, SystemExit):
            error = RankFailedError(f"rank {task.rank} left with sys.exit({error.code!r}) before it returned")
        on_failure(task, error)

    def close(self) -> None:
        """End every task that is still suspended, in order, so that no greenlet outlives the run."""
        self.ready.clear()
        for task in self.tasks:
            self.current = task  # its clean-up may wait again
            for attempt in range(_PATIENCE + 1):
                if not task.greenlet or task.greenlet.dead:
                    break
                if attempt == _PATIENCE:  # it catches everything and tries again: it is put to sleep where it waits
                    self.given_up = True
                    _asleep.append(task.greenlet)
                try:
                    task.greenlet.throw(Stopped)
                except greenlet.GreenletExit:
                    pass
                except Exception:  # the user's own clean-up failed: the run has its result or its error already
                    break
            self.given_up = False
            task.finished = True
        self.current = None

    def _sleep_for_ever(self) -> None:
        """The end of a rank that will not end: nothing that is thrown into it reaches its own code any more."""
        while True:
            with suppress(greenlet.GreenletExit):
                self.hub.switch()


def _at_the_start(body: Callable[..., None], maker: greenlet.greenlet) -> None:
    """What a task's greenlet does: come into being, go back to who made it, and do ``body`` when its turn comes."""
    body(maker.switch())


_CLOCK = Waiting("the clock")
_LAST = EventPriority(NORMAL + 8)
"""SimPy's priority of what comes after everything else of its time (larger is later)."""
_PATIENCE = 50
"""How often a rank that catches everything is asked to end."""
_asleep: list[Any] = []
"""Greenlets that did not end. They are kept: the collector, too, would throw an exit into them, again and again."""


def _call_back(event: Any) -> None:
    event._value()


class _Raise:
    """Marks a value given to a waiting task as an error to raise."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error
