"""When does each rank finish a collective that nothing else can disturb?

The slow way to run a collective lets every rank execute its own steps over the network: two suspensions and an event
per message. But if every member is blocked in this one collective, and every link of it belongs to one member (its
own port), then nothing else can use those links, and the whole table of steps can be worked through at once. The
recurrence is the one that the messages obey: a transfer starts when both sides have posted it, the sender is free
after n / bandwidth, the receiver one latency later, and a rank's next step begins when both its transfers are over.

The same expressions in the same order as in ``sim.network``, so the result is equal bit for bit; a test holds the two
together. When all ranks start together and all hops are alike, all ranks have one clock and the recurrence is a few
additions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from simdist.comm.algorithm import Algorithm, plan
from simdist.comm.call import Call, Request
from simdist.comm.chunks import bounds
from simdist.comm.execute import divide
from simdist.comm.packing import overlap
from simdist.comm.reduce_op import combine_into
from simdist.tensor.meta import MetaArray

__all__ = ["Bundle", "Hops", "Wire", "replay"]

Wire = Callable[[int, int], tuple[float, float]]
"""(source, destination) as global ranks -> (bandwidth, latency) of the route between them."""


class Hops(NamedTuple):
    """The routes that a symmetric algorithm uses in one group, if they are all alike."""

    bandwidth: float
    latency: float


class Bundle(NamedTuple):
    """The messages of a collective whose ranks stayed in step: all are known from these few values."""

    request: Request
    label: str
    nbytes: int
    start: float
    hops: Hops

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows that the messages would have written one by one."""
        request, now, label = self.request, self.start, self.label
        ranks, size = request.members.ranks, request.members.size
        nbytes = self.nbytes // size
        plans = [plan(request.algorithm, member, size, request.root, request.layout) for member in range(size)]
        for step, (send, _, _, _) in enumerate(plans[0]):
            if send is None:
                continue
            arrived = now + nbytes / self.hops.bandwidth + self.hops.latency
            for member in range(size):
                to = plans[member][step].send
                assert to is not None
                yield (ranks[member], ranks[to.peer], now, now, arrived, nbytes, label)
            now = arrived


def replay(
    calls: Sequence[Call], starts: Sequence[float], wire: Wire, hops: Hops | None, flows: list[Any] | None
) -> list[float]:
    """Work through all ranks' steps.

    Args:
        calls: one per group rank, in order; their buffers are changed as the collective does.
        starts: when each rank entered, seconds.
        wire: the routes.
        hops: the one kind of route that the algorithm uses, if it is symmetric and there is only one.
        flows: where messages are recorded (rows, or a ``Bundle`` of them), or None.
    """
    first = calls[0]
    moves_data = _has_data(first)
    size, cuts = len(calls), first.request.cuts
    if hops is not None and starts.count(starts[0]) == size and cuts is not None and _alike(cuts, size):
        now = _in_step(first, starts[0], hops)
        if moves_data:
            _move_in_step(calls)
        if flows is not None:
            flows.append(Bundle(first.request, first.full_label, first.flat.nbytes, starts[0], hops))
        return [now] * size
    return _Table(calls, starts, wire, flows, moves_data).run()


def _alike(cuts: tuple[int, ...], size: int) -> bool:
    """Whether the buffer is cut into chunks of one size."""
    return not cuts[-1] % size and cuts == bounds(cuts[-1], size)


def _has_data(call: Call) -> bool:
    array = call.flat if call.flat is not None else next(iter((call.parts or {}).values()), None)
    return array is not None and not isinstance(array, MetaArray)


def _in_step(call: Call, now: float, hops: Hops) -> float:
    """When all ranks are done, if they start together at ``now``: one clock for all."""
    request = call.request
    for seconds in _durations(request.algorithm, len(request.members.ranks), call.flat.nbytes, hops):
        now += seconds  # one addition after the other, as the messages make them; sum() rounds otherwise
    return now


@lru_cache(maxsize=1024)
def _durations(algorithm: Algorithm, size: int, nbytes: int, hops: Hops) -> tuple[float, ...]:
    """What a symmetric algorithm adds to a clock: for each step in which bytes move, the seconds on the wire, the latency."""
    transfers = sum(step.send is not None for step in plan(algorithm, 0, size))
    return (nbytes // size / hops.bandwidth, hops.latency) * transfers


def _move_in_step(calls: Sequence[Call]) -> None:
    """Move the data of a symmetric algorithm, step by step for all ranks: no step sends a chunk that it receives."""
    size = len(calls)
    chunks = [[call.chunk(i) for i in range(size)] for call in calls]
    divisor, fold = calls[0].request.divisor, calls[0].request.combine
    for steps in zip(*(call.request.steps() for call in calls), strict=True):
        for member, (_, recv, combine, finish) in enumerate(steps):
            if recv is not None:
                peer, (index,) = recv
                received = chunks[peer][index]
                combine_into(chunks[member][index], received, fold if combine else None, peer < member)
            if divisor:
                for index in finish:
                    divide(chunks[member][index], divisor)


class _Table:
    """All ranks' steps, and how far each has come."""

    def __init__(
        self, calls: Sequence[Call], starts: Sequence[float], wire: Wire, flows: list[Any] | None, moves_data: bool
    ) -> None:
        self.calls, self.wire, self.flows, self.moves_data = calls, wire, flows, moves_data
        self.divisor, self.fold = calls[0].request.divisor, calls[0].request.combine
        self.steps = [call.request.steps() for call in calls]
        self.position = [-1] * len(calls)
        self.open = [0] * len(calls)
        self.now = list(starts)
        self.until = list(starts)
        self.sent: dict[tuple[int, int], list[Any]] = {}
        self.awaited: dict[tuple[int, int], tuple[tuple[int, ...], bool]] = {}
        self.runnable = list(range(len(calls)))[::-1]

    def run(self) -> list[float]:
        while self.runnable:
            self.advance(self.runnable.pop())
        assert all(p == len(s) for p, s in zip(self.position, self.steps, strict=True)), "an algorithm blocks itself"
        return self.now

    def advance(self, rank: int) -> None:
        """Post the rank's next step that has a transfer; finish its algorithm if there is none."""
        steps = self.steps[rank]
        while True:
            done = self.position[rank]
            if done >= 0:
                self.now[rank] = self.until[rank]
                if self.divisor and self.moves_data:
                    for index in steps[done].finish:
                        divide(self.calls[rank].chunk(index), self.divisor)
            self.position[rank] = done = done + 1
            if done == len(steps):
                return
            send, recv, combine, _ = steps[done]
            if send is not None or recv is not None:
                break
        self.open[rank] = (send is not None) + (recv is not None)
        payload: list[Any] = []
        if send is not None:
            payload = [self.calls[rank].chunk(index) for index in send.chunks]
            if self.moves_data and overlap(send, recv):
                payload = [chunk.copy() for chunk in payload]
        if recv is not None:
            pair = (recv.peer, rank)
            if pair in self.sent:
                self.transfer(pair, self.sent.pop(pair), recv.chunks, combine)
            else:
                self.awaited[pair] = (recv.chunks, combine)
        if send is not None:
            pair = (rank, send.peer)
            if pair in self.awaited:
                self.transfer(pair, payload, *self.awaited.pop(pair))
            else:
                self.sent[pair] = payload

    def transfer(self, pair: tuple[int, int], payload: list[Any], targets: tuple[int, ...], combine: bool) -> None:
        """Both sides have posted: move the bytes and let time pass on both."""
        src, dst = pair
        sender, receiver = self.calls[src], self.calls[dst]
        ready = max(self.now[src], self.now[dst])
        ranks = sender.members.ranks
        bandwidth, latency = self.wire(ranks[src], ranks[dst])
        nbytes = sum([chunk.nbytes for chunk in payload])
        left = ready + nbytes / bandwidth
        arrived = left + latency
        if self.moves_data:
            for index, chunk in zip(targets, payload, strict=True):
                combine_into(receiver.chunk(index), chunk, self.fold if combine else None, src < dst)
        if self.flows is not None:
            self.flows.append((ranks[src], ranks[dst], self.now[src], ready, arrived, nbytes, sender.full_label))
        for rank, end in ((src, left), (dst, arrived)):
            self.until[rank] = max(self.until[rank], end)
            self.open[rank] -= 1
            if not self.open[rank]:
                self.runnable.append(rank)
