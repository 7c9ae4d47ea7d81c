from __future__ import annotations

from typing import Any, cast

import numpy as np

from simdist.backends.process.frame import Frame, Kind
from simdist.backends.process.ledger import Ledger
from simdist.backends.process.mailbox import Arrival
from simdist.backends.process.work import Work
from simdist.comm.transport import Tag

A: Tag = (0, 1, 1)
B: Tag = (0, 1, 2)


def _work(peer: int, tag: Tag, *, sends: bool) -> Work:
    return Work(cast(Any, None), 9, peer, sends, np.zeros(1), tag, b"", "")


def _full() -> tuple[Ledger, list[Work]]:
    """A ledger with a work in each place: to and from rank 1 with tag A."""
    ledger = Ledger()
    large, small = _work(1, A, sends=True), _work(1, A, sends=True)
    posted, coming = _work(1, A, sends=False), _work(1, A, sends=False)
    ledger.held[4], ledger.unacknowledged[5], ledger.expected[1, 6] = large, small, coming
    ledger.mail.post(posted)
    return ledger, [large, small, posted, coming]


def test_what_nobody_has_taken() -> None:
    ledger, works = _full()
    assert ledger.unmet() == works[:3]


def test_a_refused_send_is_taken_out() -> None:
    ledger, (large, small, *_) = _full()
    assert ledger.refused(4) is large
    assert ledger.refused(5) is small
    assert ledger.refused(4) is None


def test_a_peer_that_leaves_still_delivers_what_it_has_announced() -> None:
    ledger, works = _full()
    assert ledger.abandon(2) == []
    assert sorted(map(id, ledger.abandon(1))) == sorted(map(id, works[:3]))
    assert ledger.expected
    assert ledger.unmet() == []


def test_of_a_broken_collective_nothing_is_left() -> None:
    ledger, works = _full()
    ledger.mail.keep(2, Arrival(Frame(Kind.EAGER, 1, A), None))
    other = _work(1, B, sends=True)
    ledger.held[7] = other
    assert sorted(map(id, ledger.withdraw(A))) == sorted(map(id, works))
    assert ledger.mail.unclaimed == 0
    assert ledger.unmet() == [other]
