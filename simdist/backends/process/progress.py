"""Who moves the messages?

Whoever waits. The first thread that waits leads: it sleeps in the wires and serves every link of the rank, for the other
threads too; those sleep until their own work is done or until the leader leaves and hands over. So a message costs no thread
switch (measured: half the latency of a thread that owns the sockets), and an idle rank burns no time. While nobody waits
but something is pending (a rank that computes), a background thread takes the lead, and gives it up when somebody waits.

Lock order: ``mutex`` guards all state of the endpoint. The leader sleeps without it.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Protocol

from simdist.backends.process.claim import Claim
from simdist.backends.process.patience import ExpiredError
from simdist.backends.process.place import thread_place

if TYPE_CHECKING:
    from simdist.backends.process.link import Lane
    from simdist.backends.process.wires import Wires
    from simdist.backends.process.work import Work

__all__ = ["Owner", "Progress", "Waiter"]

_TICK = 0.002  # how often the background looks whether it is needed, while anything is pending
_CALM_TICKS = 25  # ticks with nothing pending until the background sleeps for good
_SILENCE = 0.5  # seconds that a rank waits before it tells the others what for (or half of its limit)


class Owner(Protocol):
    """What the endpoint tells the progress."""

    def late_error(self) -> BaseException | None:
        """An error of an operation that had already been reported as done."""

    def claims(self) -> list[Claim]:
        """What the rank has posted and nobody has taken."""

    def say(self, work: Work) -> None:
        """Tell everybody what this rank is doing, since ``work`` keeps it waiting."""

    def after_progress(self) -> None:
        """Called under the mutex after messages moved."""


class Waiter:
    """One thread that waits for one work.

    Args:
        work: what it waits for.
        limit: seconds that it waits, None for ever.
    """

    __slots__ = ("bell", "deadline", "ident", "limit", "rung", "since", "speaks", "work")

    def __init__(self, work: Work, limit: float | None) -> None:
        self.work, self.ident, self.since, self.limit = work, threading.get_ident(), time.perf_counter(), limit
        self.deadline = math.inf if limit is None else self.since + limit
        silence = _SILENCE if limit is None else min(_SILENCE, limit / 2)
        self.speaks = self.since + silence if work.note else math.inf
        self.bell = threading.Lock()
        self.bell.acquire()
        self.rung = False

    def patience(self) -> float | None:
        """Seconds until it has to look up, None if nothing is due."""
        due = min(self.deadline, self.speaks)
        return None if due == math.inf else max(0.0, due - time.perf_counter())

    def ring(self) -> None:
        """Wake the thread (once until it has heard)."""
        if not self.rung:
            self.rung = True
            self.bell.release()


class Progress:
    """Moves the messages of one rank.

    Args:
        owner: the endpoint.
        timeout: seconds for a wait that names none; None for ever.
        wires: what connects the rank with the others.
    """

    def __init__(self, owner: Owner, timeout: float | None, wires: Wires) -> None:
        self.mutex = threading.RLock()
        self.pending = 0
        self.late_error = owner.late_error
        self._owner, self._timeout, self._wires = owner, timeout, wires
        self._leading = self._closed = False
        self._followers: deque[Waiter] = deque()
        self._waiters: list[Waiter] = []
        self._needed = threading.Event()
        self._dozing = False
        self._background = threading.Thread(target=self._work_alone, name="simdist-progress", daemon=True)
        self._background.start()

    def watch(self, lane: Lane) -> None:
        """Look again at what the lane waits for (call it under the mutex after a send)."""
        if self._wires.watch(lane):
            self._kick()

    def began(self) -> None:
        """One more work is pending (under the mutex)."""
        self.pending += 1
        if self._dozing:
            self._dozing = False
            self._needed.set()

    def finish(self, work: Work, error: BaseException | None = None) -> None:
        """The work is done (under the mutex)."""
        if work.done:
            return
        work.error, work.done = error, True
        self.pending -= 1
        for waiter in self._waiters:
            if waiter.work is work:
                waiter.ring()

    def poll(self) -> None:
        """Move what can be moved now, without waiting."""
        with self.mutex:
            if self._leading or self._closed:
                return
            self._leading = True
        try:
            self._serve(0.0)
        finally:
            self._resign()

    def wait_for(self, work: Work, timeout: float | None) -> None:
        """Return when ``work`` is done.

        Raises:
            ExpiredError: after ``timeout`` seconds (None: the run's timeout).
        """
        limit = self._timeout if timeout is None else timeout
        waiter = Waiter(work, limit)
        with self.mutex:
            self._waiters.append(waiter)
        try:
            while not work.done:
                self._check(waiter)
                if self._take_lead(waiter):
                    self._lead(waiter)
                else:
                    self._follow(waiter)
        finally:
            with self.mutex:
                self._waiters.remove(waiter)
                # A thread that was asked to lead and found its work done passes the lead on: it must never get lost.
                if not self._leading:
                    self._hand_over()

    def _check(self, waiter: Waiter) -> None:
        late = self.late_error()
        if late is not None:
            raise late
        now = time.perf_counter()
        if now >= waiter.deadline:
            raise self._expired(waiter)
        if now >= waiter.speaks:
            waiter.speaks = math.inf
            self._owner.say(waiter.work)

    def _take_lead(self, waiter: Waiter) -> bool:
        with self.mutex:
            if not self._leading:
                self._leading = True
                return True
            self._followers.append(waiter)
            self._kick()
            return False

    def _lead(self, waiter: Waiter) -> None:
        try:
            while not waiter.work.done:
                self._serve(waiter.patience())
                if not waiter.work.done:
                    self._check(waiter)
        finally:
            self._resign()

    def _follow(self, waiter: Waiter) -> None:
        patience = waiter.patience()
        waiter.bell.acquire(timeout=-1 if patience is None else patience)
        with self.mutex:
            if waiter in self._followers:
                self._followers.remove(waiter)
            if waiter.rung:
                # It may have been rung just after the time-out: hear it, so that it is silent again.
                waiter.bell.acquire(blocking=False)
                waiter.rung = False

    def _hand_over(self) -> None:
        if self._followers:
            self._followers.popleft().ring()

    def _resign(self) -> None:
        """Stop leading; the first follower takes over."""
        with self.mutex:
            self._leading = False
            self._hand_over()

    def _serve(self, timeout: float | None) -> None:
        """Sleep until messages can be moved, then move them. Only the leader calls this."""
        self._wires.serve(timeout, self.mutex)
        with self.mutex:
            self._owner.after_progress()

    def _kick(self) -> None:
        if self._leading:
            self._wires.kick()

    def _raise_late(self) -> None:
        error = self._owner.late_error()
        if error is not None:
            raise error

    def _expired(self, waiter: Waiter) -> ExpiredError:
        rank, what = waiter.work.rank, waiter.work.describe()
        error = ExpiredError(f"rank {rank} waited {waiter.limit:g} s, its timeout, for: {what}{_at(waiter, what)}")
        error.waits, error.claims = tuple(self.waiting_for()), tuple(self._owner.claims())
        return error

    def awaited(self) -> list[Work]:
        """What the threads of this rank wait for."""
        with self.mutex:
            return [waiter.work for waiter in self._waiters]

    def waiting_for(self) -> list[str]:
        """A line for each thread that waits: for what, since when, and where in the user's program."""
        with self.mutex:
            waiters = list(self._waiters)
        now = time.perf_counter()
        lines = []
        for waiter in waiters:
            what = waiter.work.describe()
            lines.append(f"{what}, since {now - waiter.since:.3g} s{_at(waiter, what)}")
        return lines

    def _work_alone(self) -> None:
        """The background thread: lead while something is pending and nobody waits."""
        calm = 0
        while not self._closed:
            with self.mutex:
                if self.pending:
                    calm = 0
                else:
                    calm += 1
                self._dozing = doze = calm > _CALM_TICKS
                lead = self.pending > 0 and not self._leading and not self._waiters and not self._closed
                if lead:
                    self._leading = True
            if lead:
                try:
                    self._serve(_TICK)
                finally:
                    self._resign()
            elif doze:
                self._needed.wait()
                self._needed.clear()
                calm = 0
            else:
                time.sleep(_TICK)

    def close(self) -> None:
        """Stop the background thread and let go of the wires."""
        with self.mutex:
            self._closed = True
            self._dozing = False
            self._kick()
        self._needed.set()
        self._background.join()
        self._wires.close()


def _at(waiter: Waiter, what: str) -> str:
    """Where the thread waits, if it is in the user's program and the text does not say so already."""
    place = thread_place(waiter.ident)
    return f" ({place})" if place and place not in what else ""
