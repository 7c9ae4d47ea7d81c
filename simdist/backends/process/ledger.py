"""Which operations of a rank are still under way?

Every pending work is in exactly one place: a receive that nobody has answered is in the mailbox; a large send waits for its
clearance, a small one for its acknowledgement; a large receive waits for its data. So whatever ends early (a peer returns, a
collective breaks) takes out exactly what can no longer happen. Used under the endpoint's lock.
"""

from __future__ import annotations

from collections.abc import Callable

from simdist.backends.process.mailbox import Mailbox
from simdist.backends.process.work import Work
from simdist.comm.transport import Tag

__all__ = ["Ledger"]


class Ledger:
    """The places.

    Attributes:
        mail: posted receives, and messages that came before theirs.
        held: number of a large send -> itself, until the receiver is ready.
        unacknowledged: number of a small send -> itself, until the receiver has it.
        expected: (sender, number) of a large receive -> itself, until its data come.
    """

    def __init__(self) -> None:
        self.mail = Mailbox()
        self.held: dict[int, Work] = {}
        self.unacknowledged: dict[int, Work] = {}
        self.expected: dict[tuple[int, int], Work] = {}

    def unmet(self) -> list[Work]:
        """What nobody has taken yet."""
        return [*self.held.values(), *self.unacknowledged.values(), *self.mail.posted()]

    def refused(self, number: int) -> Work | None:
        """Take out a send that its receiver does not want."""
        return self.held.pop(number, None) or self.unacknowledged.pop(number, None)

    def abandon(self, peer: int) -> list[Work]:
        """Take out what needs ``peer`` to do something new."""
        return self.mail.abandon(peer) + self._sends(lambda work: work.peer == peer)

    def withdraw(self, tag: Tag) -> list[Work]:
        """Take out everything with ``tag``, and forget what has arrived for it."""
        lost = self.mail.withdraw(tag) + self._sends(lambda work: work.tag == tag)
        for key in [key for key, work in self.expected.items() if work.tag == tag]:
            lost.append(self.expected.pop(key))
        return lost

    def _sends(self, is_lost: Callable[[Work], bool]) -> list[Work]:
        lost = []
        for table in (self.held, self.unacknowledged):
            for number in [number for number, work in table.items() if is_lost(work)]:
                lost.append(table.pop(number))
        return lost
