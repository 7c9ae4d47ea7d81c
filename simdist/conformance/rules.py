"""Which rules does a transport keep, and how is each tried?

A row per rule; its test speaks to the ends directly and raises ``BrokenError`` with what it saw.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from simdist.backends.custom.byte_transport import ByteTransport
from simdist.comm.transport import Tag, Work

__all__ = ["RULES", "BrokenError", "Rule"]

Ends = Sequence[ByteTransport]

_TAG: Tag = (0, 0, 5)
_SOON = 0.05  # seconds of a wait that must or may end in vain
_LARGE = 8 * 1024 * 1024


class BrokenError(Exception):
    """A rule is broken; the text says what was seen."""


@dataclass(frozen=True)
class Rule:
    """One thing that is tried.

    Attributes:
        number: of the rule at the head of ``backends.custom.byte_transport``.
        name: what it is about.
        says: the rule in one sentence.
        test: (ends, seconds that a message may take) -> None; raises ``BrokenError``.
        size: number of ranks.
    """

    number: int
    name: str
    says: str
    test: Callable[[Ends, float], None]
    size: int = 2


def _message(number: int, length: int) -> Any:
    return np.random.default_rng([number, length]).integers(0, 256, length, np.uint8)


def _wait(work: Work, seconds: float, what: str) -> None:
    try:
        work.wait(seconds)
    except TimeoutError:
        raise BrokenError(f"{what} did not end within {seconds:g} s.") from None


def _get(end: ByteTransport, length: int, src: int, tag: Tag, seconds: float, what: str) -> Any:
    place = np.zeros(length, np.uint8)
    _wait(end.irecv(place, src, tag), seconds, f"The receive of {what}")
    return place


def _together(jobs: Sequence[Callable[[], None]], seconds: float) -> None:
    """Do all at once, each on a thread of its own; a job that sees something wrong counts more than one that waits in vain."""
    wrong: list[tuple[int, Exception]] = []

    def guarded(place: int, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            wrong.append((place, error))

    threads = [threading.Thread(target=guarded, args=pair, daemon=True) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 2 * seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    if wrong:
        raise min(wrong, key=lambda pair: pair[0])[1]
    if any(thread.is_alive() for thread in threads):
        raise BrokenError(f"This did not come to an end within {2 * seconds:g} s.")


def _waits(sends: Sequence[Work], seconds: float) -> list[Callable[[], None]]:
    """A job for each send: a transport may move a message only while somebody waits for it."""
    return [partial(_wait, send, seconds, "A send whose message was waited for") for send in sends]


def _order(ends: Ends, seconds: float) -> None:
    a, b = ends
    count = 20
    sends = [a.isend(_message(number, 100), 1, _TAG) for number in range(count)]

    def receive() -> None:
        came = []
        for number in range(count):
            got = _get(b, 100, 0, _TAG, seconds, f"message {number} of {count} from rank 0")
            came.append(next((n for n in range(count) if np.array_equal(got, _message(n, 100))), None))
        if None in came:
            raise BrokenError(f"Message {came.index(None)} of {count} arrived with other contents.")
        if came != list(range(count)):
            raise BrokenError(f"Messages 0 to {count - 1} were sent with one tag, and arrived as {came}.")

    _together([receive, *_waits(sends, seconds)], seconds)
    try:
        b.irecv(np.zeros(100, np.uint8), 0, _TAG).wait(_SOON)
    except TimeoutError:
        return
    raise BrokenError(f"{count} messages were sent, and more arrived.")


def _tags(ends: Ends, seconds: float) -> None:
    a, b = ends
    tags = [(0, 0, 5), (0, 0, 6), (0, 1, 5), (1, 0, 5), (0, -1, 0), (10**6, 2, 10**9)]
    sends = [a.isend(_message(number, 64), 1, tag) for number, tag in enumerate(tags)]

    def receive() -> None:
        for number in reversed(range(len(tags))):
            got = _get(b, 64, 0, tags[number], seconds, f"the message with tag {tags[number]}")
            if not np.array_equal(got, _message(number, 64)):
                raise BrokenError(
                    f"Messages with tags {tags} were sent; the receive for {tags[number]} took another one."
                )

    _together([receive, *_waits(sends, seconds)], seconds)


def _sources(ends: Ends, seconds: float) -> None:
    first, *others = ends
    sends = [end.isend(_message(end.rank, 64), 0, _TAG) for end in others]

    def receive() -> None:
        for end in reversed(others):
            got = _get(first, 64, end.rank, _TAG, seconds, f"the message from rank {end.rank}")
            if not np.array_equal(got, _message(end.rank, 64)):
                raise BrokenError(f"The receive from rank {end.rank} took a message of another rank.")

    _together([receive, *_waits(sends, seconds)], seconds)


def _contents(ends: Ends, seconds: float) -> None:
    """The sender changes its array as soon as it may, before the receiver waits if it can."""
    a, b = ends
    place, buf = np.zeros(5000, np.uint8), _message(1, 5000)
    arriving, leaving = b.irecv(place, 0, _TAG), a.isend(buf, 1, _TAG)

    def change() -> None:
        _wait(leaving, seconds, "The send")
        buf[:] = 0

    try:
        leaving.wait(_SOON)
    except TimeoutError:  # it takes the contents when they are received
        _together([change, partial(_wait, arriving, seconds, "The receive")], seconds)
    else:
        buf[:] = 0
        _wait(arriving, seconds, "The receive")
    if not np.array_equal(place, _message(1, 5000)):
        raise BrokenError(
            "The send's wait had returned, the sender wrote zeros into its array, and they arrived: isend must take a copy, or "
            "its wait must wait."
        )


def _room(ends: Ends, seconds: float) -> None:
    a, b = ends
    for length in 1, 7, 52, 4096, 65_537, _LARGE:
        around = np.full(length + 16, 170, np.uint8)
        data = _message(2, length)
        data.flags.writeable = False
        arriving, leaving = b.irecv(around[8:-8], 0, _TAG), a.isend(data, 1, _TAG)
        receive = partial(_wait, arriving, seconds, f"The receive of {length} bytes")
        _together([receive, *_waits([leaving], seconds)], seconds)
        if not np.array_equal(around[8:-8], data):
            raise BrokenError(f"A message of {length} bytes arrived with other contents.")
        if set(around[:8].tolist() + around[-8:].tolist()) != {170}:
            raise BrokenError(f"A message of {length} bytes was written beyond the end of its array.")


def _limits(ends: Ends, seconds: float) -> None:
    a, b = ends
    place = np.zeros(10, np.uint8)
    arriving = b.irecv(place, 0, _TAG)
    for _ in range(2):
        try:
            arriving.wait(_SOON)
        except TimeoutError:
            continue
        raise BrokenError(f"wait({_SOON:g}) of a receive returned, though nothing had been sent.")
    leaving = a.isend(_message(3, 10), 1, _TAG)
    receive = partial(_wait, arriving, seconds, "A receive that had been waited for in vain")
    _together([receive, *_waits([leaving], seconds)], seconds)
    if not np.array_equal(place, _message(3, 10)):
        raise BrokenError("The message was lost to the wait that was given up.")


def _both_ways(ends: Ends, seconds: float) -> None:
    """Both ranks send much before either receives; sends and receives are waited for on threads of their own."""

    def give(end: ByteTransport) -> None:
        _wait(end.isend(_message(end.rank, _LARGE), 1 - end.rank, _TAG), seconds, f"Rank {end.rank}'s send")

    def take(end: ByteTransport) -> None:
        other = 1 - end.rank
        time.sleep(_SOON)
        got = _get(end, _LARGE, other, _TAG, seconds, f"what rank {other} sent")
        if not np.array_equal(got, _message(other, _LARGE)):
            raise BrokenError(f"What rank {other} sent arrived with other contents.")

    _together([partial(job, end) for end in ends for job in (give, take)], seconds)


def _threads(ends: Ends, seconds: float) -> None:
    count = 30

    def give(end: ByteTransport, peer: int) -> None:
        for number in range(count):
            _wait(end.isend(_message(number + 100 * end.rank, 200), peer, _TAG), seconds, "A send")

    def take(end: ByteTransport, peer: int) -> None:
        for number in range(count):
            got = _get(end, 200, peer, _TAG, seconds, f"message {number} from rank {peer}")
            if not np.array_equal(got, _message(number + 100 * peer, 200)):
                raise BrokenError(
                    f"Message {number} from rank {peer} to rank {end.rank} was lost, spoilt or overtaken."
                )

    pairs = [(end, peer) for end in ends for peer in range(len(ends)) if peer != end.rank]
    _together([partial(job, *pair) for pair in pairs for job in (give, take)], seconds)


RULES: tuple[Rule, ...] = (
    Rule(1, "order", "Messages of one tag arrive in order, each once, none lost.", _order),
    Rule(2, "tags", "A receive never takes a message with another tag.", _tags),
    Rule(2, "sources", "A receive never takes a message from another rank.", _sources, 3),
    Rule(3, "contents", "A message holds what the buffer held when isend was called.", _contents),
    Rule(4, "sizes", "Exactly as many bytes arrive as there is room for.", _room),
    Rule(5, "limits", "wait(timeout) raises TimeoutError, and may be called again.", _limits),
    Rule(5, "both ways at once", "No send waits for ever once its receive is waited for.", _both_ways),
    Rule(6, "threads", "Calls come from several threads.", _threads, 4),
)
"""What is tried, in the order of the rules."""
