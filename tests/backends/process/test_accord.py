"""Ranks that differ are told at once, all of them, on endpoints and in whole runs."""

from __future__ import annotations

import re
import time
from typing import Any

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.backends.process.accord import Accord
from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.frame import EAGER_BYTES, Frame, Kind
from simdist.backends.process.ledger import Ledger
from simdist.comm.entry import LESSON, Entry
from simdist.comm.transport import Tag
from simdist.errors import CollectiveMismatchError

pytestmark = pytest.mark.timeout(60)

TAG: Tag = (0, 1, 3)
SUM = Entry(0, "collective 3 of group 'world'", "all_reduce of (4,) float32, SUM", "t.py:5").pack()
ROOT = Entry(1, "collective 3 of group 'world'", "broadcast of (4,) float32, root 0", "t.py:9").pack()
TEXT = (
    "rank 2 at 1 ms: collective 3 of group 'world' is broadcast of (4,) float32, root 0 (t.py:9), but rank 1 called all_reduce "
    f"of (4,) float32, SUM (t.py:5). {LESSON}"
)
LARGE = EAGER_BYTES  # float32: four times the bytes that travel with their header


def _accord() -> tuple[Accord, list[Frame]]:
    frames: list[Frame] = []
    return Accord(lambda: 1e-3, Ledger(), frames.append, lambda work, error: None), frames


@pytest.mark.parametrize("order", [[(1, SUM), (2, ROOT)], [(2, ROOT), (1, SUM)]])
def test_the_first_contradiction_is_told_to_all_once(order: list[tuple[int, bytes]]) -> None:
    accord, frames = _accord()
    assert accord.hear(TAG, *order[0])
    assert not accord.hear(TAG, *order[1])
    assert not accord.hear(TAG, 3, ROOT)
    assert frames == [Frame(Kind.ALARM, 0, TAG, note=TEXT.encode())]


def test_what_is_no_contradiction() -> None:
    accord, frames = _accord()
    assert accord.hear(TAG, 1, SUM)
    assert accord.hear(TAG, 2, SUM.replace(b":5", b":7"))
    assert accord.hear(TAG, 2, b"")
    assert accord.hear(TAG, 2, b"words of something else")
    assert accord.hear((0, 1, 4), 2, ROOT)
    assert accord.hear((0, 0, 3), 2, ROOT)
    assert frames == []


def test_old_words_are_forgotten() -> None:
    accord, _ = _accord()
    for number in range(10_000):
        accord.hear((0, 1, number), 1, SUM)
    assert len(accord._heard) <= 4096
    assert not accord.hear((0, 1, 9_999), 2, ROOT)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("size", [4, LARGE])
def test_everybody_fails_whatever_they_wait_for(world: Any, size: int, late: bool) -> None:
    """Rank 0 sends to 1, which receives in another call; rank 2 waits for rank 0 and rank 3 comes later."""

    def program(end: Endpoint) -> None:
        x = np.zeros(size, np.float32)
        if end.rank == 0:
            end.isend(x, 1, TAG, SUM).wait()
        elif end.rank == 1:
            time.sleep(0.05 * late)
            end.irecv(x, 0, TAG, note=ROOT).wait()
        elif end.rank == 2:
            end.irecv(x, 0, TAG, note=SUM).wait()
        else:
            time.sleep(0.1)
            end.isend(x, 0, TAG, SUM).wait()

    errors = world(4).run(program)
    assert [type(error) for error in errors] == [CollectiveMismatchError] * 4
    for error in errors:
        assert re.match(
            r"rank 1 at .*: collective 3 of group 'world' is broadcast .* \(t.py:9\), but rank \d called all_reduce",
            str(error),
        )


def test_after_a_broken_collective_the_next_one_works(world: Any) -> None:
    def program(end: Endpoint) -> float:
        note = SUM if end.rank else ROOT
        for peer in range(end.world_size):
            if peer != end.rank:
                with pytest.raises(CollectiveMismatchError):
                    end.isend(np.zeros(LARGE, np.float32), peer, TAG, note).wait()
        x = np.full(LARGE, end.rank, np.float32)
        y = np.empty(LARGE, np.float32)
        coming = end.irecv(y, (end.rank - 1) % end.world_size, (0, 1, 4))
        end.isend(x, (end.rank + 1) % end.world_size, (0, 1, 4)).wait()
        coming.wait()
        return float(y.sum() / LARGE)

    assert world(3).run(program) == [2.0, 0.0, 1.0]


def test_ranks_that_only_wait_for_each_other_are_told_before_the_limit(world: Any) -> None:
    def program(end: Endpoint) -> None:
        end.irecv(np.zeros(4), 1 - end.rank, TAG, note=ROOT if end.rank else SUM).wait()

    began = time.perf_counter()
    errors = world(2, timeout=20.0).run(program)
    assert time.perf_counter() - began < 10
    assert [type(error) for error in errors] == [CollectiveMismatchError] * 2


def test_a_block_of_another_size_is_told_to_all(world: Any) -> None:
    note = Entry(0, "collective 3 of group 'world'", "all_to_all_single", "t.py:5").pack()

    def program(end: Endpoint) -> None:
        if end.rank == 0:
            end.isend(np.zeros(2), 1, TAG, note).wait()
        elif end.rank == 1:
            end.irecv(np.zeros(3), 0, TAG, note=note).wait()
        else:
            end.irecv(np.zeros(3), 0, TAG, note=note).wait()

    errors = world(3).run(program)
    assert [type(error) for error in errors] == [CollectiveMismatchError] * 3
    assert "0->1: sent 2, expected 3 elements (rank 0: t.py:5, rank 1: t.py:5)" in str(errors[2])


# -- whole runs ---------------------------------------------------------------------------------------------------------


def kinds(rank: int) -> None:
    x = np.ones(4)
    if rank == 0:
        dist.gather(x, [x.copy() for _ in range(4)], dst=0)
    else:
        dist.broadcast(x, src=0)


def roots(rank: int) -> None:
    dist.broadcast(np.ones(4), src=rank)


def one_more_group(rank: int) -> None:
    if rank == 2:
        dist.new_group([0, 1])
    dist.barrier()


def splits(rank: int) -> None:
    rows = [2, 1, 1, 1] if rank == 1 else [1] * 4
    dist.all_to_all_single(np.zeros(sum(rows)), np.ones(4), rows, [1] * 4)


@pytest.mark.parametrize("program", [kinds, roots, one_more_group, splits])
def test_every_rank_of_a_run_is_told_both_lines(program: Any) -> None:
    def train(rank: int, world_size: int) -> str:
        with pytest.raises(CollectiveMismatchError) as found:
            program(rank)
        return str(found.value)

    for text in sd.run(train, world_size=4, backend="process", timeout=20.0).results:
        assert len(re.findall(r"test_accord.py:\d+", text)) == 2
        assert "collective 0 of group 'world'" in text
