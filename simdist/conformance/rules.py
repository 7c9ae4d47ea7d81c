"""Which rules does a transport keep, and how is each tried?

A row per rule; its test speaks to the ends directly and raises ``BrokenError`` with what it saw.
"""

from __future__ import annotations

import threading
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
_SOON = 0.05  # seconds of a wait that must end in vain
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
    _wait(end.irecv(place, src, tag), seconds, f"the receive of {what}")
    return place


def _nothing_more(end: ByteTransport, length: int, src: int, tag: Tag, what: str) -> None:
    try:
        end.irecv(np.zeros(length, np.uint8), src, tag).wait(_SOON)
    except TimeoutError:
        return
    raise BrokenError(what)


def _order(ends: Ends, seconds: float) -> None:
    a, b = ends
    count = 20
    sends = [a.isend(_message(number, 100), 1, _TAG) for number in range(count)]
    came = []
    for number in range(count):
        got = _get(b, 100, 0, _TAG, seconds, f"message {number} of {count} from rank 0")
        came.append(next((n for n in range(count) if np.array_equal(got, _message(n, 100))), None))
    if None in came:
        raise BrokenError(f"Message {came.index(None)} of {count} arrived with other contents.")
    if came != list(range(count)):
        raise BrokenError(f"Messages 0 to {count - 1} were sent with one tag, and arrived as {came}.")
    for send in sends:
        _wait(send, seconds, "a send whose message has arrived")
    _nothing_more(b, 100, 0, _TAG, f"{count} messages were sent, and more arrived.")


def _tags(ends: Ends, seconds: float) -> None:
    a, b = ends
    tags = [(0, 0, 5), (0, 0, 6), (0, 1, 5), (1, 0, 5), (0, -1, 0), (10**6, 2, 10**9)]
    sends = [a.isend(_message(number, 64), 1, tag) for number, tag in enumerate(tags)]
    for number in reversed(range(len(tags))):
        got = _get(b, 64, 0, tags[number], seconds, f"the message with tag {tags[number]}")
        if not np.array_equal(got, _message(number, 64)):
            raise BrokenError(f"Messages with tags {tags} were sent; the receive for {tags[number]} took another one.")
    for send in sends:
        _wait(send, seconds, "a send whose message has arrived")


def _sources(ends: Ends, seconds: float) -> None:
    first, *others = ends
    sends = [end.isend(_message(end.rank, 64), 0, _TAG) for end in others]
    for end in reversed(others):
        got = _get(first, 64, end.rank, _TAG, seconds, f"the message from rank {end.rank}")
        if not np.array_equal(got, _message(end.rank, 64)):
            raise BrokenError(f"The receive from rank {end.rank} took a message of another rank.")
    for send in sends:
        _wait(send, seconds, "a send whose message has arrived")


def _contents(ends: Ends, seconds: float) -> None:
    a, b = ends
    place, buf = np.zeros(5000, np.uint8), _message(1, 5000)
    arriving = b.irecv(place, 0, _TAG)
    _wait(a.isend(buf, 1, _TAG), seconds, "the send")
    buf[:] = 0
    _wait(arriving, seconds, "the receive")
    if not np.array_equal(place, _message(1, 5000)):
        raise BrokenError(
            "The send's wait had returned, the sender wrote zeros into its array, and they arrived: isend must take a copy, or "
            "its wait must wait."
        )


def _room(ends: Ends, seconds: float) -> None:
    a, b = ends
    for length in 1, 7, 52, 4096, 65_537, _LARGE:
        around = np.full(length + 16, 170, np.uint8)
        arriving = b.irecv(around[8:-8], 0, _TAG)
        data = _message(2, length)
        data.flags.writeable = False
        leaving = a.isend(data, 1, _TAG)
        _wait(arriving, seconds, f"the receive of {length} bytes")
        _wait(leaving, seconds, f"the send of {length} bytes")
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
    _wait(arriving, seconds, "a receive that had been waited for in vain")
    _wait(leaving, seconds, "its send")
    if not np.array_equal(place, _message(3, 10)):
        raise BrokenError("The message was lost to the wait that was given up.")


def _together(jobs: Sequence[Callable[[], None]], seconds: float) -> None:
    """Do all at once, each on a thread of its own."""
    wrong: list[Exception] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * seconds)
    if wrong:
        raise wrong[0]
    if any(thread.is_alive() for thread in threads):
        raise BrokenError(f"This did not come to an end within {2 * seconds:g} s.")


def _both_ways(ends: Ends, seconds: float) -> None:
    def talk(end: ByteTransport) -> None:
        other, place = 1 - end.rank, np.zeros(_LARGE, np.uint8)
        leaving = end.isend(_message(end.rank, _LARGE), other, _TAG)
        _wait(end.irecv(place, other, _TAG), seconds, f"rank {end.rank}'s receive")
        _wait(leaving, seconds, f"rank {end.rank}'s send")
        if not np.array_equal(place, _message(other, _LARGE)):
            raise BrokenError(f"What rank {other} sent arrived with other contents.")

    _together([partial(talk, end) for end in ends], seconds)


def _threads(ends: Ends, seconds: float) -> None:
    def give(end: ByteTransport, peer: int) -> None:
        for number in range(30):
            _wait(end.isend(_message(number + 100 * end.rank, 200), peer, _TAG), seconds, "a send")

    def take(end: ByteTransport, peer: int) -> None:
        for number in range(30):
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
    Rule(5, "both ways at once", "No send waits for ever once its receive is posted.", _both_ways),
    Rule(6, "threads", "Calls come from several threads.", _threads, 4),
)
"""What is tried, in the order of the rules."""
