"""When does a message arrive?

The level ``"messages"``: every message is a thing of its own. Two sides post it; it starts when both have (a
rendezvous), or when the sender has, if it is no larger than the eager limit. Its route is a list of directed links.
Links are *cut-through*: the first byte does not wait for the last one, so a message of n bytes that has its links to
itself takes

    (sum of the latencies) + n / (smallest bandwidth),

and it occupies its links for n / (smallest bandwidth) seconds from its start. The sender is free when the last byte has
left, the receiver one latency later.

**Sharing.** Messages between one pair of ranks in one direction are one *connection*, and go one after the other in the
order in which they became ready, as bytes on a TCP connection or a queue pair do. Messages of different connections that
cross a link share it: max-min fair, as flows (``sim.flow``). So two messages of one sender to two receivers share the
sender's port, and two to the same receiver do not (decision 0006). The two directions of a full-duplex link are two
links; on a half-duplex one both directions share.

A link that only one connection can use (a direct cable between two devices) needs no flow and no event: the sender posts
in the order of its own clock, and the times follow by addition. All other messages enter at their own time through the
environment's heap, which brings the senders into the order of time. Both ways give the same bits where both apply.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from simdist.cluster import Cluster
from simdist.comm.envelope import Envelope, crossed, misfit, unequal
from simdist.comm.transport import Tag

from .any_source import NOBODY, AnySource
from .flow import FlowNet
from .kernel import Kernel
from .message import Message, Side

__all__ = ["Network", "Way"]


class Way(NamedTuple):
    """What lies between two ranks, in one direction.

    Attributes:
        links: numbers of the directed links.
        bandwidth: of the slowest, bytes per second.
        latency: of all together, seconds.
        private: only messages of this pair, in this direction, can use the links.
    """

    links: tuple[int, ...]
    bandwidth: float
    latency: float
    private: bool


class Network:
    """Who has posted what, and until when each link is occupied.

    Args:
        kernel: the clock.
        cluster: the machines; ranks are devices 0, 1, ...
        eager_limit: messages of at most this many bytes do not wait for their receiver (0: all do, empty ones too).
        flows: the trace's list of messages, or None.
    """

    def __init__(self, kernel: Kernel, cluster: Cluster, eager_limit: int, flows: list[Any] | None) -> None:
        self.kernel, self.cluster, self.eager_limit, self.flows = kernel, cluster, eager_limit, flows
        self.free: list[float] = [0.0] * len(cluster.links)
        self.shared = FlowNet(kernel, [link.bandwidth for link in cluster.links])
        self.num_messages = 0
        self._sent: dict[tuple[int, int, Tag], deque[Message]] = {}
        self._awaited: dict[tuple[int, int, Tag], deque[Side]] = {}
        self._any = AnySource(kernel, self._sent, self._match)
        self._between: dict[tuple[int, int], Way] = {}
        self._entering: dict[float, list[Any]] = {}
        self.with_streams: set[int] = set()
        """Ranks whose messages come from more than one task: their order in time is known only to the heap."""

    # -- posting ----------------------------------------------------------------------------------------------------

    def send(
        self, now: float, src: int, dst: int, tag: Tag, buf: Any, label: str, envelope: Envelope | None = None
    ) -> Side:
        """Rank ``src`` posts, at ``now``, the contents that ``buf`` has at this call."""
        side = Side(self.kernel, now, dst, f"{label}: send to rank {dst}", envelope)
        message = Message(src, dst, buf.nbytes, buf.copy(), now, label, side)
        self.num_messages += 1
        message.eager = eager = 0 < self.eager_limit >= message.nbytes
        key = (src, dst, tag)
        awaited = self._awaited.get(key)
        if awaited:
            self._match(tag, message, awaited.popleft())
            if not awaited:
                del self._awaited[key]
        else:
            self._sent.setdefault(key, deque()).append(message)
            self._any.posted(message, tag)
        if eager:
            side.ready = now
            self._enter(message, now, tag)
        return side

    def receive(
        self,
        now: float,
        src: int,
        dst: int,
        tag: Tag,
        buf: Any,
        combine: Any,
        lower: bool,
        label: str,
        envelope: Envelope | None = None,
    ) -> Side:
        """Rank ``dst`` is ready, at ``now``, to take the next message of (src, dst, tag) into ``buf``."""
        side = Side(self.kernel, now, src, f"{label}: recv from rank {src}", envelope)
        side.buf, side.combine, side.lower = buf, combine, lower
        key = (src, dst, tag)
        sent = self._sent.get(key)
        if sent:
            message = sent.popleft()
            if not sent:
                del self._sent[key]
            self._match(tag, message, side)
        else:
            self._awaited.setdefault(key, deque()).append(side)
        return side

    def receive_any(
        self, now: float, sources: tuple[int, ...], dst: int, tag: Tag, buf: Any, label: str, envelope: Envelope
    ) -> Side:
        """Rank ``dst`` is ready, at ``now``, to take the first message with ``tag`` that one of ``sources`` sends."""
        side = Side(self.kernel, now, NOBODY, f"{label}: recv from any rank", envelope)
        side.buf = buf
        self._any.receive(side, sources, dst, tag)
        return side

    def _match(self, tag: Tag, message: Message, receiver: Side) -> None:
        receiver.message = message
        ready = max(message.sent, receiver.posted)
        receiver.ready = ready
        reason = _misfit(tag, message, receiver)
        if reason is not None and message.eager:
            receiver.error = reason  # the sender has gone on
        elif reason is not None:
            message.sender.fail(ready, reason)
            receiver.fail(ready, reason)
            return
        if message.arrived is not None:
            receiver.complete(max(message.arrived, receiver.posted))
            return
        message.receiver = receiver
        if not message.eager:
            message.sender.ready = ready
            self._enter(message, ready, tag)

    def crossings(self) -> list[str]:
        """A sentence for each pair of ranks between which a send and a receive of the user's wait with different tags."""
        sent = {
            (src, dst): (tag, queue[0].sender) for (src, dst, tag), queue in sorted(self._sent.items(), reverse=True)
        }
        texts = []
        for (src, dst, tag), queue in sorted(self._awaited.items()):
            there = sent.pop((src, dst), None)
            if there is not None and there[1].envelope is not None and queue[0].envelope is not None:
                texts.append(crossed(src, dst, there[0], there[1].envelope, tag, queue[0].envelope))
        return texts

    # -- the links --------------------------------------------------------------------------------------------------

    def way(self, pair: tuple[int, int]) -> Way:
        """What lies between the ranks of ``pair`` (sender, receiver); looked up once."""
        way = self._between.get(pair)
        if way is None:
            src, dst = pair
            route = self.cluster.route(src, dst)
            private = len(route.links) == 1 and route.owned and self.cluster.route(dst, src).links != route.links
            way = self._between[pair] = Way(route.links, route.bandwidth, route.latency, private)
        return way

    def carry(
        self, pair: tuple[int, int], nbytes: int, time: float, tag: Tag, done: Callable[[float, float], None]
    ) -> None:
        """Bytes move from ``time`` on, or when their turn comes.

        Args:
            pair: sender and receiver, global ranks.
            nbytes: how many.
            time: seconds; not before what the clock shows, unless nobody else uses the links.
            tag: of two messages of a pair that are ready at the same time, the one with the lower tag goes first.
            done: called with when they began to move and when the last one left.
        """
        way = self.way(pair)
        if not way.private:
            self.shared.start(time, pair, way.links, nbytes, done, turn=tag)
        elif self.kernel.lazy and pair[0] not in self.with_streams:
            self._serve(way, nbytes, time, done)
        else:
            batch = self._entering.get(time)
            if batch is None:
                batch = self._entering[time] = []
                self.kernel.at(time, lambda: self._serve_all(time), last=True)
            batch.append((pair, tag, len(batch), way, nbytes, done))

    def _serve_all(self, time: float) -> None:
        """Everybody who enters a link of one connection at ``time``, in the order of tags and not of posting."""
        for _, _, _, way, nbytes, done in sorted(self._entering.pop(time), key=itemgetter(0, 1, 2)):
            self._serve(way, nbytes, time, done)

    def _serve(self, way: Way, nbytes: int, time: float, done: Callable[[float, float], None]) -> None:
        """On a link of one connection: one message after the other."""
        (link,) = way.links
        start = max(time, self.free[link])
        self.free[link] = left = start + nbytes / way.bandwidth
        done(start, left)

    def _enter(self, message: Message, time: float, tag: Tag) -> None:
        """Both sides are there (or the eager sender is): the message moves from ``time`` on, or when its turn comes."""
        pair = message.src, message.dst
        self.carry(pair, message.nbytes, time, tag, lambda start, left: self.carried(message, start, left))

    def carried(self, message: Message, start: float, left: float) -> None:
        """The message has been on its links from ``start`` until ``left``: both sides learn when they are done."""
        message.arrived = arrived = left + self.way((message.src, message.dst)).latency
        if self.flows is not None:
            self.flows.append((message.src, message.dst, message.sent, start, arrived, message.nbytes, message.label))
        message.sender.complete(left)
        receiver = message.receiver
        if receiver is not None:
            message.receiver = None  # the receiver's side keeps the message; the other way round would be a cycle
            receiver.complete(max(arrived, receiver.posted))


def _misfit(tag: Tag, message: Message, receiver: Side) -> str | None:
    """Why the receive cannot take the message, or None. Messages of collectives have no envelope: their calls are compared."""
    sent, wanted = message.sender.envelope, receiver.envelope
    if sent is not None and wanted is not None:
        return misfit(tag, message.src, sent, message.dst, wanted)
    if message.nbytes == receiver.buf.nbytes:
        return None
    return unequal(message.src, message.dst, message.label, message.nbytes, receiver.buf.nbytes)
