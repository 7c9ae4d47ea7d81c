"""What ranks that wait in vain say, put side by side: on its own, and through whole runs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.backends.process.claim import Claim, circle, crossings, dispute
from simdist.comm.envelope import Envelope
from simdist.errors import CollectiveMismatchError, DeadlockError, DistTimeoutError

TAG = (0, 1, 3)
SUM = b"collective 3 of group 'world': all_reduce of (4,) float32, SUM\nt.py:5"
ROOT = b"collective 3 of group 'world': broadcast of (4,) float32, root 0\nt.py:9"


def _message(rank: int, peer: int, sends: bool, number: int, line: int, group: int = 0) -> Claim:
    return Claim(rank, peer, sends, (group, 0, number), Envelope((2,), "int8", f"t.py:{line}").pack())


def test_equal_calls_are_no_dispute() -> None:
    assert dispute([]) is None
    assert dispute([Claim(0, 1, True, TAG, SUM), Claim(1, 0, False, TAG, SUM.replace(b":5", b":7"))]) is None
    assert dispute([Claim(0, 1, True, TAG, SUM), Claim(1, 0, False, (0, 1, 4), ROOT)]) is None  # one may be ahead
    assert dispute([Claim(0, 1, True, TAG, SUM), Claim(1, 0, False, TAG, b"")]) is None


def test_different_calls() -> None:
    claims = [Claim(2, 0, False, TAG, ROOT), Claim(1, 0, False, TAG, ROOT), Claim(0, 1, True, TAG, SUM)]
    assert dispute(claims) == (
        "collective 3 of group 'world' is not the same on all ranks: rank 0 called all_reduce of (4,) float32, SUM (t.py:5), "
        "but rank 1, 2 called broadcast of (4,) float32, root 0 (t.py:9). Every rank of a group must make the same calls in "
        "the same order, with equal shapes and dtypes."
    )


def test_many_ranks_are_shortened() -> None:
    text = dispute([Claim(0, 1, True, TAG, SUM), *[Claim(rank, 0, False, TAG, ROOT) for rank in range(1, 20)]])
    assert "rank 1, 2, 3, 4, 5, 6, 7, 8, ... called broadcast" in str(text)


def test_crossed_tags() -> None:
    assert crossings([_message(0, 1, True, 3, 5), _message(1, 0, False, 4, 9)]) == [
        "rank 0 sends to rank 1 with tag 3 (t.py:5), but rank 1 receives from rank 0 with tag 4 (t.py:9): a message is taken "
        "only by a receive with its own tag and group."
    ]
    (text,) = crossings([_message(0, 1, True, 3, 5), _message(1, 0, False, 3, 9, group=2)])
    assert "with tag 3 (t.py:5), but rank 1 receives from rank 0 with tag 3 in group 2 (t.py:9)" in text


def test_what_is_no_crossing() -> None:
    assert crossings([_message(0, 1, True, 3, 5), _message(1, 0, True, 4, 9)]) == []
    assert crossings([_message(0, 1, True, 3, 5), _message(2, 0, False, 4, 9)]) == []
    assert crossings([_message(0, 1, True, 3, 5), _message(1, 0, False, 3, 9)]) == []  # about to meet
    assert crossings([Claim(0, 1, True, TAG, SUM), Claim(1, 0, False, TAG, ROOT)]) == []


def test_a_circle_of_waiting_ranks() -> None:
    claims = [Claim(a, b, True, TAG, b"", awaited=True) for a, b in ((0, 1), (1, 2), (2, 0), (3, 0))]
    assert circle(claims) == [0, 1, 2, 0]
    assert (
        circle([claim._replace(awaited=claim.rank != 1) for claim in claims]) == []
    )  # posted, but nobody waits for it
    assert circle([Claim(0, -1, False, TAG, b"", awaited=True)]) == []


# -- whole runs ---------------------------------------------------------------------------------------------------------


def kinds(rank: int, world_size: int, async_op: bool) -> None:
    x = np.ones(4)
    if rank == 0:
        work = dist.gather(x, [x.copy() for _ in range(world_size)], dst=0, async_op=async_op)
    else:
        work = dist.broadcast(x, src=0, async_op=async_op)
    if work is not None:
        work.wait()


def roots(rank: int, world_size: int, async_op: bool) -> None:
    work = dist.broadcast(np.ones(4), src=rank, async_op=async_op)
    if work is not None:
        work.wait()


def shapes(rank: int, world_size: int, async_op: bool) -> None:
    work = dist.broadcast(np.ones(4 + rank, np.int32), src=rank, async_op=async_op)
    if work is not None:
        work.wait()


@pytest.mark.parametrize("async_op", [False, True])
@pytest.mark.parametrize(
    ("program", "one", "other"),
    [
        (kinds, "gather of (4,) float64, root 0", "broadcast of (4,) float64, root 0"),
        (roots, "broadcast of (4,) float64, root 0", "broadcast of (4,) float64, root 1"),
        (shapes, "broadcast of (4,) int32, root 0", "broadcast of (5,) int32, root 1"),
    ],
)
def test_ranks_that_differ_are_told_on_every_backend(program: Any, one: str, other: str, async_op: bool) -> None:
    place = r"\(test_claim.py:\d+\)"
    for options in ({"backend": "process", "timeout": 2.0}, {}):
        with pytest.raises(CollectiveMismatchError) as found:
            sd.run(program, async_op, world_size=2, **options)
        assert re.match(
            rf"rank 1 at .*: collective 0 of group 'world' is {re.escape(other)} {place}, but rank 0 called {re.escape(one)} "
            rf"{place}. Every rank of a group must make the same calls in the same order",
            str(found.value),
        )


def test_unchecked_nothing_is_compared() -> None:
    with pytest.raises(DistTimeoutError, match="its timeout") as found:
        sd.run(kinds, False, world_size=2, backend="process", timeout=0.3, checked=False)
    assert not isinstance(found.value, CollectiveMismatchError)


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("backend", ["sim", "process"])
def test_crossed_tags_are_told(backend: str, blocking: bool) -> None:
    def program(rank: int, world_size: int) -> None:
        x = np.ones(2)
        if rank == 0 and blocking:
            dist.send(x, 1, tag=3)
        elif rank == 0:
            dist.isend(x, 1, tag=3)
            dist.recv(x, 1)
        else:
            dist.recv(x, 0, tag=4)

    kind = DeadlockError if backend == "sim" else DistTimeoutError
    with pytest.raises(kind) as found:
        sd.run(program, world_size=2, backend=backend, timeout=None if backend == "sim" else 0.3)
    assert re.search(
        r"^rank 0 sends to rank 1 with tag 3 \(test_claim.py:\d+\), but rank 1 receives from rank 0 with tag 4 "
        r"\(test_claim.py:\d+\): a message is taken only by a receive with its own tag and group.$",
        str(found.value),
        re.MULTILINE,
    )
