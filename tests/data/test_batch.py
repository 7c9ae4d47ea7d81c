"""Does every row go to exactly one rank, in an order that depends on its address only?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.data import DataError, batch


def rows(**changes: Any) -> list[list[int]]:
    arguments = {
        "count": 10,
        "batch_size": 4,
        "rank": 0,
        "world_size": 1,
        "steps": None,
        "epoch": 0,
        "seed": 0,
    } | changes
    return [part.tolist() for part in batch.indices("digits", **arguments)]


@given(st.integers(1, 500), st.integers(1, 40))
def test_shares_are_contiguous_complete_and_differ_by_at_most_one(batch_size: int, world_size: int) -> None:
    parts = [batch.share(batch_size, rank, world_size) for rank in range(world_size)]
    assert parts[0].start == 0
    assert parts[-1].stop == batch_size
    assert all(a.stop == b.start for a, b in pairwise(parts))
    sizes = [part.stop - part.start for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@given(st.integers(1, 300), st.integers(0, 2**63), st.integers(0, 10**6))
def test_an_order_is_a_permutation_with_an_address(count: int, seed: int, epoch: int) -> None:
    one = batch.order(count, seed, epoch)
    assert sorted(one.tolist()) == list(range(count))
    assert (one == batch.order(count, seed, epoch)).all()


def test_the_order_is_written_down() -> None:
    """Philox's raw stream is promised not to change: neither may the data a seed stands for."""
    assert batch.order(8, 0, 0).tolist() == ORDER_0_0
    assert batch.order(8, 1, 0).tolist() != ORDER_0_0
    assert batch.order(8, 0, 1).tolist() != ORDER_0_0


ORDER_0_0 = [0, 2, 1, 5, 4, 3, 6, 7]


def test_no_global_state_is_read_or_changed() -> None:
    before = np.random.get_state()  # noqa: NPY002
    first = rows()
    np.random.seed(5)  # noqa: NPY002
    assert rows() == first
    np.random.set_state(before)  # noqa: NPY002


@given(st.integers(1, 7), st.integers(7, 30), st.integers(0, 9))
def test_the_shares_of_all_ranks_are_the_batch_of_one(world_size: int, batch_size: int, steps: int) -> None:
    same = {"count": 31, "batch_size": batch_size, "steps": steps, "seed": 3}
    parts = [rows(rank=rank, world_size=world_size, **same) for rank in range(world_size)]
    together = [[row for part in step for row in part] for step in zip(*parts, strict=True)]
    assert together == rows(**same)
    assert len(together) == steps


def test_an_epoch_has_whole_batches_only_and_no_row_twice() -> None:
    epoch = rows()
    assert [len(step) for step in epoch] == [4, 4]
    assert len({row for step in epoch for row in step}) == 8


def test_steps_go_on_into_the_following_epochs() -> None:
    assert rows(steps=5) == rows(epoch=0) + rows(epoch=1) + rows(epoch=2)[:1]
    assert rows(steps=1) == rows()[:1]
    assert rows(steps=0) == []
    assert rows(epoch=0) != rows(epoch=1)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"batch_size": 4, "world_size": 5},
            "digits: batch_size=4 is smaller than world_size=5: some rank would get no row. batch_size is the global batch, "
            "shared by all ranks; make it at least 5.",
        ),
        ({"rank": 2, "world_size": 2}, "digits: rank=2 is out of range: with world_size=2 ranks are 0..1."),
        ({"rank": -1}, "digits: rank must be an integer of at least 0, got -1."),
        ({"steps": -1}, "digits: steps must be an integer of at least 0, got -1."),
        ({"steps": 1.5}, "digits: steps must be an integer of at least 0, got 1.5."),
        ({"batch_size": 0}, "digits: batch_size must be an integer of at least 1, got 0."),
        ({"world_size": 0}, "digits: world_size must be an integer of at least 1, got 0."),
        ({"seed": -1}, "digits: seed must be an integer of at least 0, got -1."),
        ({"epoch": "0"}, "digits: epoch must be an integer of at least 0, got '0'."),
        ({"rank": True}, "digits: rank must be an integer of at least 0, got True."),
        ({"batch_size": 11}, "digits: batch_size=11, but there are 10 rows. Make it at most 10."),
    ],
)
def test_a_mistake_is_told_at_once(changes: dict[str, Any], text: str) -> None:
    arguments = {
        "count": 10,
        "batch_size": 4,
        "rank": 0,
        "world_size": 1,
        "steps": None,
        "epoch": 0,
        "seed": 0,
    } | changes
    with pytest.raises(DataError) as error:
        batch.indices("digits", **arguments)  # nobody has asked for a first step
    assert str(error.value) == text
    assert isinstance(error.value, ValueError)
