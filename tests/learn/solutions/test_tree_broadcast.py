from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
from simdist.learn import check
from simdist.learn.classroom import classroom, message_time
from simdist.learn.solutions import tree_broadcast


def told(rank: int, world_size: int, root: int) -> np.ndarray:
    x = np.full(3, float(rank))
    tree_broadcast.reference(x, root, rank, world_size)
    return x


def test_the_reference_passes() -> None:
    result = check("tree_broadcast", tree_broadcast.reference, quiet=True)
    assert result.passed, str(result)


@pytest.mark.parametrize("world_size", [1, 2, 3, 4, 5, 7, 8, 13])
def test_the_reference_takes_at_most_a_message_for_each_doubling(world_size: int) -> None:
    for root in range(world_size):
        done = sd.run(told, root, world_size=world_size, cluster=classroom(world_size))
        assert all(list(result) == [float(root)] * 3 for result in done.results)
        assert done.time <= (world_size - 1).bit_length() * message_time(24) * (1 + 1e-12)


def test_the_naive_one_sends_everything_through_one_port() -> None:
    result = check("tree_broadcast", tree_broadcast.naive, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == ["simulated time"]
    rows = {row.name: row for row in result.criteria}
    assert rows["simulated time"].yours == "285 us, p = 8, n = 1 MB"
    assert rows["simulated time"].limit == "125 us … 135 us (⌈log2 p⌉ (α + n/B))"
    assert "Too slow: look at the timeline" in str(result)
