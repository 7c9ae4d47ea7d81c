"""When is each rank done, if an algorithm's rounds are all that happens?

``comm.rehearsal`` gives an algorithm's rounds: who sends what to whom at the same time. A timetable adds the machines: for
each round the seconds that every exchange takes. From the times at which the ranks entered follows a recurrence, round by
round for all ranks at once (a max-plus product):

    ready   = max(when the sender posted, when the receiver posted)
    left    = ready + bytes / bandwidth          the sender goes on
    arrived = left + latency                     the receiver goes on

and a rank posts its next step when both exchanges of the last one are over. On links of one sender this is exactly what
messages do one by one (``sim.network``), with the same expressions, so the same bits. Exchanges of one round that cross
the same link share it equally; that is what fair sharing gives if they start together, and an approximation if not.

A ring on p ranks has 2 (p - 1) rounds of p exchanges each, all alike but for the chunk: it needs no rehearsal, and its
rounds are the same arrays, turned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from simdist.cluster import Cluster
from simdist.cluster.sharing import shared
from simdist.comm.algorithm import plan
from simdist.comm.call import Call, Request
from simdist.comm.rehearsal import rehearse

__all__ = ["Course", "Round", "Timetable", "Totals", "timetable"]

_Array = np.ndarray[Any, Any]
ChunkBytes = Callable[[int, int], int]
"""(group rank, chunk) -> bytes."""


class Round(NamedTuple):
    """The exchanges of one round, one element of each array for each exchange.

    Attributes:
        begins: group ranks that post their next step in this round.
        src: senders.
        dst: receivers.
        nbytes: what is sent.
        seconds: bytes over the bandwidth that the exchange gets.
        latency: seconds from the last byte's departure to its arrival.
    """

    begins: _Array
    src: _Array
    dst: _Array
    nbytes: _Array
    seconds: _Array
    latency: _Array


class Course(NamedTuple):
    """The messages of a collective that a timetable has timed; written out when somebody reads them."""

    request: Request
    label: str
    timetable: Timetable
    starts: tuple[float, ...]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """One row for each message."""
        ranks = self.request.members.ranks
        for src, dst, posted, ready, arrived, nbytes in self.timetable.messages(self.starts):
            yield ranks[src], ranks[dst], posted, ready, arrived, nbytes, self.label


class Totals(NamedTuple):
    """All rounds of a collective together.

    Attributes:
        carried: (src, dst, bytes) of each pair of group ranks that exchanges something.
        chain: bytes of the largest message of each round, added up.
        seconds: for how long bytes move if every round waits for its slowest message: without latencies.
    """

    carried: list[tuple[int, int, int]]
    chain: int
    seconds: float


class Timetable(Protocol):
    """What both kinds of timetable can tell."""

    def finish(self, starts: Sequence[float]) -> list[float]:
        """When each rank is done, from when each entered; seconds, by group rank."""

    def totals(self) -> Totals:
        """What is carried in all rounds together."""

    def messages(self, starts: Sequence[float]) -> Iterator[tuple[int, int, float, float, float, int]]:
        """(src, dst, when the sender posted, when both had, when it arrived, bytes) of each message, in rounds."""


class _Rounds:
    """Any algorithm: the rounds of its rehearsal."""

    def __init__(self, size: int, rounds: list[Round]) -> None:
        self.size, self.rounds = size, rounds

    def finish(self, starts: Sequence[float]) -> list[float]:
        posted = np.array(starts, np.float64)
        until = posted.copy()
        for begins, src, dst, _, seconds, latency in self.rounds:
            posted[begins] = until[begins]
            left = np.maximum(posted[src], posted[dst]) + seconds
            until[src] = np.maximum(until[src], left)
            until[dst] = np.maximum(until[dst], left + latency)
        finished: list[float] = until.tolist()
        return finished

    def totals(self) -> Totals:
        carried: Counter[tuple[int, int]] = Counter()
        chain, duration = 0, 0.0
        for _, src, dst, nbytes, seconds, _ in self.rounds:
            for a, b, amount in zip(src.tolist(), dst.tolist(), nbytes.tolist(), strict=True):
                carried[a, b] += amount
            chain += int(nbytes.max(initial=0))
            duration += float(seconds.max(initial=0.0))
        return Totals([(a, b, amount) for (a, b), amount in carried.items()], chain, duration)

    def messages(self, starts: Sequence[float]) -> Iterator[tuple[int, int, float, float, float, int]]:
        posted = np.array(starts, np.float64)
        until = posted.copy()
        for begins, src, dst, nbytes, seconds, latency in self.rounds:
            posted[begins] = until[begins]
            ready = np.maximum(posted[src], posted[dst])
            left = ready + seconds
            arrived = left + latency
            until[src] = np.maximum(until[src], left)
            until[dst] = np.maximum(until[dst], arrived)
            columns = (src, dst, posted[src], ready, arrived, nbytes)
            yield from zip(*[column.tolist() for column in columns], strict=True)


class _Ring:
    """A ring: in every round each rank sends one chunk to its right neighbour."""

    def __init__(self, nbytes: _Array, chunks: list[int], bandwidth: _Array, latency: _Array) -> None:
        size = len(nbytes)
        self.size, self.latency = size, latency
        # chunk (c + r) mod p of rank r: a window that is turned by c; twice the array makes every turn a slice
        self.nbytes = np.concatenate([nbytes, nbytes])
        self.uniform = bool((nbytes == nbytes[0]).all())
        self.chunks, self.bandwidth = chunks, bandwidth

    def _seconds(self) -> Iterator[_Array]:
        if self.uniform:
            same = self.nbytes[: self.size] / self.bandwidth
            for _ in self.chunks:
                yield same
        else:
            for chunk in self.chunks:
                yield self.nbytes[chunk : chunk + self.size] / self.bandwidth

    def finish(self, starts: Sequence[float]) -> list[float]:
        now = np.array(starts, np.float64)
        left, arrived = np.empty_like(now), np.empty_like(now)
        for seconds in self._seconds():
            _ready(now, left)
            left += seconds
            np.add(left[:-1], self.latency[:-1], out=arrived[1:])
            arrived[0] = left[-1] + self.latency[-1]
            np.maximum(left, arrived, out=now)
        finished: list[float] = now.tolist()
        return finished

    def totals(self) -> Totals:
        size = self.size
        amounts = sum(self.nbytes[chunk : chunk + size] for chunk in self.chunks)
        carried = [(src, (src + 1) % size, int(amount)) for src, amount in enumerate(np.asarray(amounts).tolist())]
        return Totals(
            carried,
            len(self.chunks) * int(self.nbytes.max()),
            sum([float(seconds.max()) for seconds in self._seconds()]),
        )

    def messages(self, starts: Sequence[float]) -> Iterator[tuple[int, int, float, float, float, int]]:
        now = np.array(starts, np.float64)
        ready = np.empty_like(now)
        src = list(range(self.size))
        dst = src[1:] + src[:1]
        for chunk, seconds in zip(self.chunks, self._seconds(), strict=True):
            _ready(now, ready)
            left = ready + seconds
            arrived = left + self.latency
            nbytes = self.nbytes[chunk : chunk + self.size]
            yield from zip(src, dst, now.tolist(), ready.tolist(), arrived.tolist(), nbytes.tolist(), strict=True)
            now = np.maximum(left, np.roll(arrived, 1))


def _ready(now: _Array, out: _Array) -> None:
    """When each rank and its right neighbour have both posted."""
    np.maximum(now[:-1], now[1:], out=out[:-1])
    out[-1] = max(now[-1], now[0])


def timetable(calls: Sequence[Call], cluster: Cluster) -> Timetable:
    """The timetable of a collective.

    Args:
        calls: one per group rank, in order; only their sizes are looked at.
        cluster: the machines; global ranks are its devices.
    """
    request = calls[0].request
    size = len(calls)
    if request.algorithm.ring and size > 1:
        return _ring(calls, cluster)
    seen = rehearse(request.algorithm, size, request.root, request.layout, values=False)
    chunk_bytes = _sizes(calls)
    ranks = request.members.ranks
    rounds = []
    for begins, exchanges in zip(seen.begins, seen.rounds, strict=True):
        nbytes = [sum([chunk_bytes(e.src, chunk) for chunk in e.chunks]) for e in exchanges]
        bandwidth, latency = _shared(cluster, [(ranks[e.src], ranks[e.dst]) for e in exchanges])
        amounts = np.array(nbytes, np.int64)
        rounds.append(
            Round(
                np.array(begins, np.int64),
                np.array([e.src for e in exchanges], np.int64),
                np.array([e.dst for e in exchanges], np.int64),
                amounts,
                amounts / bandwidth,
                latency,
            )
        )
    return _Rounds(size, rounds)


def _ring(calls: Sequence[Call], cluster: Cluster) -> _Ring:
    request, size = calls[0].request, len(calls)
    chunk_bytes = _sizes(calls)
    nbytes = np.array([chunk_bytes(0, chunk) for chunk in range(size)], np.int64)
    chunks = [step.send.chunks[0] for step in plan(request.algorithm, 0, size) if step.send is not None]
    ranks = request.members.ranks
    bandwidth, latency = _shared(cluster, zip(ranks, ranks[1:] + ranks[:1], strict=True))
    return _Ring(nbytes, chunks, bandwidth, latency)


def _sizes(calls: Sequence[Call]) -> ChunkBytes:
    """How large each chunk is."""
    first = calls[0]
    cuts = first.request.cuts
    if first.parts is None:
        item = first.flat.dtype.itemsize
        if cuts is None:
            return lambda rank, chunk: first.flat.nbytes
        return lambda rank, chunk: (cuts[chunk + 1] - cuts[chunk]) * item

    def of_part(rank: int, chunk: int) -> int:
        parts = calls[rank].parts
        assert parts is not None
        part = parts.get(chunk)  # a chunk that passes through is as large as the rank's own
        return int((calls[rank].flat if part is None else part).nbytes)

    return of_part


def _shared(cluster: Cluster, pairs: Iterable[tuple[int, int]]) -> tuple[_Array, _Array]:
    bandwidths, latencies = shared(cluster, pairs)
    return np.array(bandwidths), np.array(latencies)
