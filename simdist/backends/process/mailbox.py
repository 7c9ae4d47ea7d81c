"""Which message belongs to which receive?

Messages and receives of one (source, tag) match in order, and nothing else matches: two tables of queues, of which for each
key at most one is non-empty. Not thread safe: used under the endpoint's lock.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

from simdist.backends.process.frame import Frame
from simdist.backends.process.sink import Parcel
from simdist.backends.process.work import Work
from simdist.comm.transport import Tag

__all__ = ["ANYONE", "Arrival", "Mailbox"]

ANYONE = -1
"""The source of a receive that takes a message from whichever rank sends one."""

Key = tuple[int, Tag]
T = TypeVar("T")


class Arrival:
    """A message that came before its receive was posted.

    Attributes:
        frame: its header.
        parcel: its bytes (None for a request to send, or without bytes).
        complete: whether all bytes are there.
        claimed: the receive that waits for the rest.
    """

    __slots__ = ("claimed", "complete", "frame", "parcel")

    def __init__(self, frame: Frame, parcel: Parcel | None) -> None:
        self.frame, self.parcel = frame, parcel
        self.complete = parcel is None
        self.claimed: Work | None = None


class _Queues(Generic[T]):
    def __init__(self) -> None:
        self._table: dict[Key, deque[T]] = {}

    def put(self, key: Key, item: T) -> None:
        self._table.setdefault(key, deque()).append(item)

    def pop(self, key: Key) -> T | None:
        queue = self._table.get(key)
        if queue is None:
            return None
        item = queue.popleft()
        if not queue:
            del self._table[key]  # tags of collectives never come back: an empty queue would stay for ever
        return item

    def drop(self, source: int) -> list[T]:
        keys = [key for key in self._table if key[0] == source]
        return [item for key in keys for item in self._table.pop(key)]

    def withdraw(self, tag: Tag) -> list[T]:
        keys = [key for key in self._table if key[1] == tag]
        return [item for key in keys for item in self._table.pop(key)]

    def sources(self) -> list[Key]:
        return list(self._table)

    def items(self) -> list[T]:
        return [item for queue in self._table.values() for item in queue]

    def __len__(self) -> int:
        return sum(map(len, self._table.values()))


class Mailbox:
    """The two tables."""

    def __init__(self) -> None:
        self._posted: _Queues[Work] = _Queues()
        self._arrived: _Queues[Arrival] = _Queues()

    @property
    def waiting(self) -> int:
        """How many receives are posted and unmatched."""
        return len(self._posted)

    @property
    def unclaimed(self) -> int:
        """How many messages arrived and were not asked for."""
        return len(self._arrived)

    def posted(self) -> list[Work]:
        """The receives that are posted and unmatched."""
        return self._posted.items()

    def post(self, work: Work) -> Arrival | None:
        """Post a receive: returns the oldest message that matches, or keeps the receive."""
        source = work.peer
        if source == ANYONE:
            source = next((peer for peer, tag in self._arrived.sources() if tag == work.tag), ANYONE)
        key = (source, work.tag)
        arrival = self._arrived.pop(key)
        if arrival is None:
            self._posted.put(key, work)
        else:
            work.peer = source
        return arrival

    def match(self, source: int, frame: Frame) -> Work | None:
        """The oldest posted receive for this message, or None (then ``keep`` it)."""
        work = self._posted.pop((source, frame.tag))
        if work is None:
            work = self._posted.pop((ANYONE, frame.tag))
            if work is not None:
                work.peer = source
        return work

    def keep(self, source: int, arrival: Arrival) -> None:
        """Keep a message nobody has asked for yet."""
        self._arrived.put((source, arrival.frame.tag), arrival)

    def withdraw(self, tag: Tag) -> list[Work]:
        """Take out every posted receive with ``tag``, and forget what has arrived for it."""
        self._arrived.withdraw(tag)
        return self._posted.withdraw(tag)

    def abandon(self, source: int) -> list[Work]:
        """Take out every posted receive from ``source``."""
        return self._posted.drop(source)
