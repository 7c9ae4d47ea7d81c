"""How do a rank's messages go on while the rank sleeps?

A rank that takes part in a collective message by message could wake for each of them (``comm.execute``): two switches of
tasks, and four objects, for every message. But what it would do then is known: the steps of the algorithm. So the rank
hands its steps to a ``Party`` and sleeps until they are done. Whenever a message has been carried the party is told, and
when both messages of a step are over it posts the next ones, at the same time and in the same order as the rank itself
would, on the same network. Numbers are copied and combined as they are carried. So times, data and messages are equal bit
for bit; ``comm.execute`` over ``sim.transport`` is what explains them, and strict mode still goes that way.

Parties go on in a task of their own, when the network has done with an instant: nobody can tell them from ranks.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from simdist.comm.call import Call
from simdist.comm.envelope import unequal
from simdist.comm.execute import divide, tag_of
from simdist.comm.reduce_op import combine_into
from simdist.errors import MessageMismatchError
from simdist.place import Place

from .kernel import Kernel, Task
from .network import Network
from .waiting import Waiting

__all__ = ["Party", "Posted", "Relay"]

_NOTHING = Waiting("nothing: the relay has no work")


class _Exchange:
    """One message between two parties, from when one side is posted.

    Attributes:
        src, dst: the sides, as far as they are there; everything else is known when both are.
        pair: their global ranks.
        latency: seconds from the last byte's departure to its arrival.
        sent, awaited, ready: when each was posted, and the later of both.
        nbytes, expected: what is sent, what is awaited.
        payload: copies of the chunks, or None if there are no numbers.
        chunks, fold: where the numbers go, and how they are combined.
    """

    __slots__ = ("awaited", "chunks", "dst", "expected", "fold", "latency", "nbytes", "pair", "payload", "ready", "sent",
                 "src")  # fmt: skip
    pair: tuple[int, int]
    latency: float
    ready: float
    sent: float
    awaited: float
    nbytes: int
    expected: int
    payload: list[Any] | None
    chunks: tuple[int, ...]
    fold: Any

    def __init__(self) -> None:
        self.src: Party | None = None
        self.dst: Party | None = None

    def carried(self, start: float, left: float) -> None:
        """It has been on its links from ``start`` until ``left``: both sides learn it."""
        src, dst = self.src, self.dst
        assert src is not None and dst is not None
        arrived = left + self.latency
        if src.flows is not None:
            src.flows.append((*self.pair, self.sent, start, arrived, self.nbytes, src.label))
        src.has_sent(self.ready, left)
        dst.has_received(self.ready, arrived, self)


Posted = dict[tuple[int, int], deque[_Exchange]]
"""(sender, receiver) as group ranks -> the messages of which one side is there, in order."""


class Relay:
    """The parties of one run.

    Args:
        kernel: the clock.
        network: what carries the messages.
    """

    def __init__(self, kernel: Kernel, network: Network) -> None:
        self.kernel, self.network = kernel, network
        self._moved: deque[Party] = deque()
        self._idle = True
        self._task: Task | None = None

    def take_part(self, task: Task, call: Call, posted: Posted) -> float:
        """Run the steps of ``call``; on return they are done and the task's clock stands at their end.

        Args:
            task: the running one.
            call: what it asks.
            posted: of this collective, the same for all members.

        Returns:
            The seconds for which the rank waited for partners to post.

        Raises:
            MessageMismatchError: a message is not as large as its receiver expects.
        """
        if self._task is None:
            self._task = self.kernel.spawn(-1, "relay", self._go_on, start=False)
        party = Party(self, task, call, posted)
        party.next_step()
        if not party.over:
            try:
                self.kernel.wait(task, party)
            finally:
                party.over = True
        if party.error is not None:
            raise MessageMismatchError(party.error)
        if task.now > self.kernel.stop_time:
            self.kernel.advance(task, 0.0)
        return party.waited

    def step_is_over(self, party: Party) -> None:
        """Both messages of the party's step have been carried: it goes on when its turn comes."""
        self._moved.append(party)
        if self._idle:
            self._idle = False
            assert self._task is not None
            self.kernel.wake(self._task)

    def _go_on(self, _: object = None) -> None:
        moved, kernel = self._moved, self.kernel
        assert self._task is not None
        while True:
            while moved:
                party = moved.popleft()
                if not party.over:
                    party.next_step()
            self._idle = True
            kernel.wait(self._task, _NOTHING)


class Party:
    """One rank's part in one collective, and why the rank sleeps.

    Attributes:
        over: the rank sleeps no longer.
        error: why the steps could not be done, or None.
        waited: seconds of waiting for partners to post, so far.
        label: the collective, for a trace.
        flows: the trace's list of messages, or None.
    """

    __slots__ = ("_arrived", "_call", "_cuts", "_data", "_divides", "_itemsize", "_me", "_open", "_position", "_posted", "_ranks",
                 "_relay", "_sending", "_steps", "_tag", "_task", "error", "flows", "label", "over",
                 "waited")  # fmt: skip

    def __init__(self, relay: Relay, task: Task, call: Call, posted: Posted) -> None:
        self._relay, self._task, self._call, self._posted = relay, task, call, posted
        request = call.request
        self._me, self._ranks, self.label = request.members.rank, request.members.ranks, call.full_label
        self._steps, self._tag, self.flows = request.steps(), tag_of(call), relay.network.flows
        self._position, self._open, self._sending = -1, 0, False
        self._arrived: tuple[float, float] | None = None
        sample = call.flat if call.flat is not None else next(iter((call.parts or {}).values()), None)
        self._data = isinstance(sample, np.ndarray)
        self._divides = self._data and bool(request.divisor)
        self._cuts = request.cuts if call.parts is None else None
        self._itemsize = 0 if sample is None else sample.dtype.itemsize
        self.over, self.waited = False, 0.0
        self.error: str | None = None

    # -- steps ------------------------------------------------------------------------------------------------------

    def next_step(self) -> None:
        """Finish the step whose messages have been carried, and post those of the next one that has any."""
        steps, position = self._steps, self._position
        while True:
            if self._divides and position >= 0:
                for index in steps[position].finish:
                    divide(self._call.chunk(index), self._call.request.divisor)
            position += 1
            if position == len(steps) or self._task.now > self._relay.kernel.stop_time:
                self._leave()
                return
            send, recv, combine, _ = steps[position]
            if send is not None or recv is not None:
                break
        self._position, self._sending, self._arrived = position, send is not None, None
        self._open = 2 if send is not None and recv is not None else 1
        payload = None
        if send is not None and self._data:  # before the receive is posted: from then on its chunks may change
            payload = [self._call.chunk(index).copy() for index in send.chunks]
        if recv is not None:
            self._receive(recv.peer, recv.chunks, combine)
        if send is not None and not self.over:
            self._send(send.peer, send.chunks, payload)

    def _leave(self) -> None:
        self.over = True
        if self._task.waiting is self:
            self._relay.kernel.wake(self._task)

    # -- messages ---------------------------------------------------------------------------------------------------

    def _receive(self, peer: int, chunks: tuple[int, ...], combine: bool) -> None:
        pair = peer, self._me
        line = self._posted.get(pair)
        matches = line is not None and len(line) > 0 and line[0].dst is None
        exchange = line.popleft() if line is not None and matches else _Exchange()
        exchange.dst, exchange.awaited, exchange.expected = self, self._task.now, self._nbytes(chunks)
        exchange.chunks, exchange.fold = chunks, self._call.request.combine if combine else None
        if matches:
            self._start(exchange)
        else:
            self._post(pair, line, exchange)

    def _send(self, peer: int, chunks: tuple[int, ...], payload: list[Any] | None) -> None:
        self._relay.network.num_messages += 1
        pair = self._me, peer
        line = self._posted.get(pair)
        matches = line is not None and len(line) > 0 and line[0].src is None
        exchange = line.popleft() if line is not None and matches else _Exchange()
        exchange.src, exchange.sent, exchange.nbytes = self, self._task.now, self._nbytes(chunks)
        exchange.payload = payload
        if matches:
            self._start(exchange)
        else:
            self._post(pair, line, exchange)

    def _post(self, pair: tuple[int, int], line: deque[_Exchange] | None, exchange: _Exchange) -> None:
        if line is None:
            self._posted[pair] = deque((exchange,))
        else:
            line.append(exchange)

    def _nbytes(self, chunks: tuple[int, ...]) -> int:
        cuts = self._cuts
        if cuts is None:  # each chunk is an array of its own, or all of the buffer
            return sum([int(self._call.chunk(index).nbytes) for index in chunks])
        if len(chunks) == 1:
            (index,) = chunks
            return (cuts[index + 1] - cuts[index]) * self._itemsize
        return sum([cuts[index + 1] - cuts[index] for index in chunks]) * self._itemsize

    def _start(self, exchange: _Exchange) -> None:
        """Both sides are there."""
        src, dst, sent, awaited = exchange.src, exchange.dst, exchange.sent, exchange.awaited
        assert src is not None and dst is not None
        exchange.ready = ready = sent if sent > awaited else awaited
        exchange.pair = pair = self._ranks[src._me], self._ranks[dst._me]
        if exchange.nbytes == exchange.expected:
            network = self._relay.network
            exchange.latency = network.way(pair).latency
            network.carry(pair, exchange.nbytes, ready, self._tag, exchange.carried)
            return
        for party in (src, dst):
            party.error = unequal(*pair, src.label, exchange.nbytes, exchange.expected)
            party._task.now = max(party._task.now, ready)
            party._leave()

    def has_sent(self, ready: float, left: float) -> None:
        """The step's message has left; both sides were there at ``ready``. For this the rank waits first."""
        self._sending = False
        self._wait(ready, left)
        if self._arrived is not None:
            self._wait(*self._arrived)

    def has_received(self, ready: float, arrived: float, exchange: _Exchange) -> None:
        """The step's message has arrived; both sides were there at ``ready``. For this the rank waits after its send."""
        if exchange.payload is not None and not self.over:
            for index, chunk in zip(exchange.chunks, exchange.payload, strict=True):
                assert exchange.src is not None
                combine_into(self._call.chunk(index), chunk, exchange.fold, exchange.src._me < self._me)
        if self._sending:
            self._arrived = ready, arrived
        else:
            self._wait(ready, arrived)

    def _wait(self, ready: float, done: float) -> None:
        """What waiting for a message does to the rank's clock; after the last of the step, on to the next one."""
        if self.over:
            return
        task = self._task
        now = task.now
        if ready > done:  # a link that nobody else uses may have been free before
            ready = done
        if ready > now:
            self.waited += ready - now
        if done > now:
            task.now = done
        self._open -= 1
        if not self._open:
            self._relay.step_is_over(self)

    # -- why the rank sleeps ----------------------------------------------------------------------------------------

    @property
    def what(self) -> str:
        """The message that it waits for now."""
        send, recv, *_ = self._steps[self._position]
        if self._sending and send is not None:
            return f"{self.label}: send to rank {self._ranks[send.peer]}"
        return f"{self.label}: recv from rank {'?' if recv is None else self._ranks[recv.peer]}"

    def ranks(self) -> tuple[int, ...]:
        """The rank at the other end of it."""
        send, recv, *_ = self._steps[self._position]
        side = send if self._sending else recv
        return () if side is None else (self._ranks[side.peer],)

    def place(self, rank: int) -> Place | None:
        """The user's line."""
        return self._call.where
