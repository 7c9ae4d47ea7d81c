from __future__ import annotations

from typing import Any, cast

import numpy as np

from simdist.backends.process.frame import Frame, Kind
from simdist.backends.process.mailbox import Arrival, Mailbox
from simdist.backends.process.sink import Parcel
from simdist.backends.process.work import Work
from simdist.comm.transport import Tag

A: Tag = (0, 0, 1)
B: Tag = (0, 0, 2)


def _receive(source: int, tag: Tag) -> Work:
    return Work(cast(Any, None), 9, source, False, np.zeros(1), tag, b"", "")


def _message(number: int, tag: Tag) -> Frame:
    return Frame(Kind.EAGER, number, tag)


def test_receives_match_in_the_order_in_which_they_were_posted() -> None:
    box = Mailbox()
    first, second = _receive(1, A), _receive(1, A)
    assert box.post(first) is None
    assert box.post(second) is None
    assert box.waiting == 2
    assert box.match(1, _message(1, A)) is first
    assert box.match(1, _message(2, A)) is second
    assert box.match(1, _message(3, A)) is None


def test_messages_match_in_the_order_in_which_they_came() -> None:
    box = Mailbox()
    early = [Arrival(_message(number, A), None) for number in (1, 2)]
    for arrival in early:
        box.keep(1, arrival)
    assert box.unclaimed == 2
    assert [box.post(_receive(1, A)) for _ in range(3)] == [*early, None]
    assert box.unclaimed == 0


def test_other_tags_and_sources_never_match() -> None:
    box = Mailbox()
    box.post(_receive(1, A))
    assert box.match(1, _message(1, B)) is None
    assert box.match(2, _message(1, A)) is None
    assert box.waiting == 1


def test_abandon_takes_out_what_was_posted_for_one_source() -> None:
    box = Mailbox()
    gone, kept = _receive(1, A), _receive(2, A)
    box.post(gone)
    box.post(kept)
    assert box.abandon(1) == [gone]
    assert box.waiting == 1
    assert box.abandon(1) == []


def test_an_arrival_without_bytes_is_complete() -> None:
    assert Arrival(_message(1, A), None).complete
    assert not Arrival(_message(1, A), Parcel(3)).complete
