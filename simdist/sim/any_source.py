"""Whose message does a receive get that takes one from anybody?

That of whoever sent first, by the clock; of equally early ones that of the lowest rank. Ranks run ahead of each other in no
particular order, so the question can be answered at time t only when everything up to t has happened: the answer is given by
an event on the environment's heap, at the time of the receive, or at that of the first message after it.

Receives from any rank with one tag are served in the order in which they were posted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from simdist.comm.transport import Tag

from .kernel import Kernel
from .message import Message, Side

__all__ = ["NOBODY", "AnySource"]

NOBODY = -1
"""The peer of a receive whose sender is not known yet."""


class _Open(NamedTuple):
    side: Side
    sources: tuple[int, ...]


class AnySource:
    """The receives that wait for whoever sends first.

    Args:
        kernel: the clock.
        sent: (source, destination, tag) -> messages that nobody has taken.
        match: brings a message and its receive together.
    """

    def __init__(
        self,
        kernel: Kernel,
        sent: dict[tuple[int, int, Tag], deque[Message]],
        match: Callable[[Tag, Message, Side], None],
    ) -> None:
        self._kernel, self._sent, self._match = kernel, sent, match
        self._open: dict[tuple[int, Tag], deque[_Open]] = {}

    def receive(self, side: Side, sources: tuple[int, ...], dst: int, tag: Tag) -> None:
        """Rank ``dst`` takes the first message of ``sources`` with ``tag``."""
        side.candidates = sources
        self._open.setdefault((dst, tag), deque()).append(_Open(side, sources))
        self._look_at(side.posted, dst, tag)
        for source in sources:
            for message in self._sent.get((source, dst, tag), ()):
                self._look_at(max(message.sent, side.posted), dst, tag)

    def posted(self, message: Message, tag: Tag) -> None:
        """A message has been posted that no named receive waits for."""
        if (message.dst, tag) in self._open:
            self._look_at(message.sent, message.dst, tag)

    def _look_at(self, time: float, dst: int, tag: Tag) -> None:
        self._kernel.at(time, lambda: self._serve(dst, tag))

    def _serve(self, dst: int, tag: Tag) -> None:
        """Everything up to now has happened: serve who can be served."""
        queue, now = self._open.get((dst, tag)), self._kernel.env.now
        while queue and queue[0].side.posted <= now:
            early = [
                (waiting[0].sent, source)
                for source in queue[0].sources
                if (waiting := self._sent.get((source, dst, tag))) and waiting[0].sent <= now
            ]
            if not early:
                return
            key = (min(early)[1], dst, tag)
            message = self._sent[key].popleft()
            if not self._sent[key]:
                del self._sent[key]
            side, _ = queue.popleft()
            if not queue:
                del self._open[dst, tag]
            side.peer = message.src
            self._match(tag, message, side)
