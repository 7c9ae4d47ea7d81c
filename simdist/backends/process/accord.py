"""Do the ranks of a group do the same thing together?

In a checked run every message of a collective says what its sender is doing, and a rank that waits long says it to everybody
(``SAY``). Whatever a rank hears about a collective is compared at once with what it heard first, its own words included,
whether the message is wanted here or not. If two ranks differ the collective is broken: every rank is told the same sentence
(``ALARM``, passed on by each, so that it comes before a rank's farewell), and every operation in it fails, now and later.

A rank whose own part was done before that hears of it by the others' failure only. Not thread safe: used under the endpoint's
lock.
"""

from __future__ import annotations

from collections.abc import Callable

from simdist.backends.process.frame import META, NOTE_LIMIT, Frame, Kind
from simdist.backends.process.ledger import Ledger
from simdist.backends.process.work import Work
from simdist.comm.entry import Entry, blocks_differ, mismatch
from simdist.comm.execute import COLLECTIVE_CHANNEL
from simdist.comm.transport import Tag
from simdist.errors import CollectiveMismatchError

__all__ = ["Accord"]

_KEPT = 4096  # collectives whose words are kept


class Accord:
    """What is known about who does what.

    Args:
        now: the rank's clock.
        ledger: what is under way.
        tell: sends a frame to every other rank.
        finish: ends a work with an error.
    """

    def __init__(
        self,
        now: Callable[[], float],
        ledger: Ledger,
        tell: Callable[[Frame], None],
        finish: Callable[[Work, CollectiveMismatchError], None],
    ) -> None:
        self._now, self._ledger, self._tell, self._finish = now, ledger, tell, finish
        self._heard: dict[Tag, tuple[int, bytes]] = {}
        self._broken: dict[Tag, str] = {}

    def hear(self, tag: Tag, rank: int, note: bytes) -> bool:
        """Take notice of what a rank says.

        Args:
            tag: of its message.
            rank: global rank.
            note: its words; empty in an unchecked run.

        Returns:
            Whether messages with this tag are of any use.
        """
        if tag[1] != COLLECTIVE_CHANNEL or not note:
            return True
        first = self._heard.setdefault(tag, (rank, note))
        if first[1] != note and tag not in self._broken:
            one, other = Entry.unpack(*first), Entry.unpack(rank, note)
            if one is not None and other is not None and not one.is_like(other):
                lower, higher = sorted((one, other))
                self.break_up(tag, mismatch(self._now(), higher, lower))
        if len(self._heard) > _KEPT:
            for old in list(self._heard)[: _KEPT // 2]:
                del self._heard[old]
        return tag not in self._broken

    def say(self, work: Work) -> None:
        """Tell everybody in which collective this rank is: ``work`` keeps it waiting."""
        if work.tag[1] == COLLECTIVE_CHANNEL and work.note:
            self._tell(Frame(Kind.SAY, 0, work.tag, note=work.note))

    def break_up(self, tag: Tag, text: str) -> None:
        """The collective cannot be done: tell everybody, and fail what belongs to it."""
        if tag in self._broken:
            return
        self._broken[tag] = text
        self._tell(Frame(Kind.ALARM, 0, tag, note=text.encode()[:NOTE_LIMIT]))
        for work in self._ledger.withdraw(tag):
            self.fail(work)

    def fail(self, work: Work) -> bool:
        """End ``work`` if it belongs to a broken collective; returns whether it does."""
        text = self._broken.get(work.tag) if self._broken else None
        if text is not None:
            self._finish(work, CollectiveMismatchError(text))
        return text is not None

    def refuse(self, work: Work, frame: Frame) -> bool:
        """A message and its receive do not fit: if both are in one collective, all its ranks fail; returns whether they are."""
        source, to = Entry.unpack(work.peer, frame.note), Entry.unpack(work.rank, work.note)
        if source is None or to is None or work.meta != bool(frame.flags & META):
            return False
        size = work.buf.dtype.itemsize
        self.break_up(work.tag, blocks_differ(self._now(), source, to, frame.nbytes // size, work.nbytes // size))
        return self.fail(work)
