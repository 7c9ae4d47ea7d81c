"""What is a message while it is on its way?

A message has two sides, the sender's and the receiver's; each side is a ``Work`` that its rank can wait for. The
message starts when both sides are posted (rendezvous), or when the sender's is (eager). Who computes the times is
``sim.network``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simdist.comm.envelope import Envelope
from simdist.comm.reduce_op import combine_into
from simdist.errors import DistTimeoutError, MessageMismatchError
from simdist.place import Place
from simdist.units import format_time

from .deadline import limit
from .kernel import Kernel, Task
from .waiting import Waiting

__all__ = ["Message", "Side"]


class Message:
    """Bytes from one rank to another.

    Attributes:
        sent: when the sender posted it.
        eager: it starts without its receiver.
        arrived: when its last byte arrives (None until the network has served it).
    """

    __slots__ = ("arrived", "dst", "eager", "label", "nbytes", "payload", "receiver", "sender", "sent", "src")

    def __init__(self, src: int, dst: int, nbytes: int, payload: Any, sent: float, label: str, sender: Side) -> None:
        self.src, self.dst, self.nbytes, self.payload, self.sent, self.label = src, dst, nbytes, payload, sent, label
        self.arrived: float | None = None
        self.eager = False
        self.sender = sender
        self.receiver: Side | None = None


class Side:
    """One rank's end of a message, and the ``Work`` that it waits for.

    Attributes:
        posted: when this side was posted.
        ready: when both sides were (None until then): until then the rank waits for the other, after it for bytes.
        done: when this side is complete (None until known).
        envelope: what this side says about a message of the user's (None: a collective's).
        error: why the other side does not fit, or None.
        on_wait: called once by ``wait`` with the time at which the rank began to wait (the recorder's hook).
        on_late: the same for a wait that ended with its own limit.
        timeout: how long a wait may take, seconds, or None.
        where: the user's line.
        candidates: who may be the other side, as long as ``peer`` is not known (a receive from any rank).
    """

    __slots__ = ("buf", "candidates", "combine", "done", "envelope", "error", "kernel", "lower", "message", "on_late",
                 "on_wait", "peer", "posted", "ready", "text", "timeout", "waiter", "where")  # fmt: skip

    def __init__(self, kernel: Kernel, posted: float, peer: int, text: str, envelope: Envelope | None = None) -> None:
        self.kernel, self.posted, self.peer, self.text = kernel, posted, peer, text
        self.envelope = envelope
        self.error: str | None = None
        self.ready: float | None = None
        self.done: float | None = None
        self.waiter: Task | None = None
        self.message: Message | None = None
        self.buf: Any = None
        self.combine: Any = None
        self.lower = False
        self.timeout: float | None = None
        self.on_wait: Callable[[float, Side], None] | None = None
        self.on_late: Callable[[float, Side], None] | None = None
        self.where: Place | None = None
        self.candidates: tuple[int, ...] = (peer,)

    def complete(self, time: float) -> None:
        """The network knows now that this side ends at ``time``; wake who waits for it."""
        self.done = time
        if self.waiter is not None:
            self.kernel.wake(self.waiter)

    def fail(self, time: float, reason: str) -> None:
        """The two sides met at ``time`` and do not fit: who waits for this one is told."""
        self.error = reason
        self.ready = time
        self.complete(time)

    def wait(self, timeout: float | None = None) -> None:
        """Suspend the running task until this side is complete; a receiver's buffer then holds the data.

        Args:
            timeout: seconds after which the wait ends with an error, and can be begun again.

        Raises:
            DistTimeoutError: it took longer than the timeout.
            MessageMismatchError: the two sides do not fit.
        """
        kernel = self.kernel
        task = kernel.current
        assert task is not None
        began = task.now
        if self.done is None:
            self.waiter = task
            try:
                with limit(kernel, task, timeout, lambda: self._late(task, began, timeout)):
                    kernel.wait(task, Waiting(self.text, self._blame, self.where))
            except DistTimeoutError:
                self._give_up(began)
                raise
            finally:
                self.waiter = None
        done = self.done
        assert done is not None
        allowed = self.timeout if timeout is None else timeout
        if allowed is not None and done - began > allowed:
            if timeout is not None:
                task.now = began + timeout
                self._give_up(began)
            raise self._late(task, began, allowed)
        if done > task.now:
            task.now = done
            kernel.advance(task, 0.0)
        if self.on_wait is not None:
            self.on_wait(began, self)
            self.on_wait = None
        if self.error is not None:
            raise MessageMismatchError(self.error)
        self.deliver()

    def _blame(self) -> tuple[int, ...]:
        return self.candidates if self.peer < 0 else (self.peer,)

    def _late(self, task: Task, began: float, allowed: float | None) -> DistTimeoutError:
        assert allowed is not None
        who = "everybody" if self.peer < 0 else f"rank {self.peer}"
        return DistTimeoutError(
            f"rank {task.rank} at {format_time(began + allowed)}: {self.text} took longer than its timeout of "
            f"{format_time(allowed)}. Give it more time, or find out why {who} is late."
        )

    def _give_up(self, began: float) -> None:
        if self.on_late is not None:
            self.on_late(began, self)

    def deliver(self) -> None:
        """Put the received bytes into the buffer, once."""
        if self.buf is not None and self.message is not None and self.message.payload is not None:
            payload = self.message.payload
            if payload.dtype != self.buf.dtype:  # an unchecked collective: bytes are bytes
                payload = payload.view(self.buf.dtype)
            combine_into(self.buf, payload, self.combine, self.lower)
            self.message.payload = None

    def completed_at(self, now: float) -> bool:
        """Whether this side is complete at time ``now``."""
        return self.done is not None and self.done <= now
