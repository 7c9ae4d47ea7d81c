"""What a trace tells of a collective, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from simdist.comm import DEFAULT, Members, Request
from simdist.sim.attendance import Attendance, Words, spans


@pytest.fixture
def request_of() -> object:
    def make(name: str) -> Request:
        members = Members(3, (4, 6, 9), 0, "group 3")
        return Request(name, members, DEFAULT[name], 0, None, np.add, 0, (name, (6,), None, None, None), 48)

    return make


def test_the_rows_of_all_members(request_of):
    rows = list(Attendance(request_of("all_reduce"), 7, (1.0, 3.0, 2.0), (5.0, 5.0, 6.0)).rows())
    wait = {"op": "all_reduce #7", "group": "group 3", "for": [6]}
    move = {"group": "group 3", "sequence": 7, "bytes": 48, "size": 3, "collective": "all_reduce"}
    move["algorithm"] = "ring_all_reduce"
    assert rows == [
        (rank, stream, kind, "all_reduce #7", start, end, details)
        for rank, parts in (
            (4, [("wait", 1.0, 3.0, wait), ("communication", 3.0, 5.0, move)]),
            (6, [("communication", 3.0, 5.0, move)]),
            (9, [("wait", 2.0, 3.0, wait), ("communication", 3.0, 6.0, move)]),
        )
        for stream in ("main", "comm:3")
        for kind, start, end, details in parts
    ]


def test_who_came_last_is_told_only_where_all_wait_for_all(request_of):
    assert Words.of(request_of("all_reduce"), 0, (2.0, 2.0, 1.0), 2.0).blame["for"] == [4]
    assert "for" not in Words.of(request_of("broadcast"), 0, (2.0, 2.0, 1.0), 2.0).blame


def test_nothing_that_took_no_time_is_a_row(request_of):
    words = Words.of(request_of("barrier"), 0, (1.0, 1.0, 1.0), 1.0)
    assert not list(spans(words, 4, "main", 1.0, 1.0, 1.0))
