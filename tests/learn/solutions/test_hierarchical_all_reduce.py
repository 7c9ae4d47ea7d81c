from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
from simdist.learn import check
from simdist.learn.classroom import ALPHA, BANDWIDTH, FABRIC, NEAR, two_levels
from simdist.learn.exercises.hierarchical_all_reduce import EXERCISE, flat_ring
from simdist.learn.solutions import hierarchical_all_reduce


def summed(rank: int, world_size: int, per_node: int, count: int) -> np.ndarray:
    x = np.arange(count, dtype=np.float64) * (rank + 1)
    hierarchical_all_reduce.reference(x, rank, world_size, per_node)
    return x


def test_the_reference_passes() -> None:
    result = check("hierarchical_all_reduce", hierarchical_all_reduce.reference, quiet=True)
    assert result.passed, str(result)
    assert {row.name: row.yours for row in result.criteria}["bytes through a card"] == "14 MB"


def test_the_references_time_is_that_of_its_three_phases() -> None:
    run = check("hierarchical_all_reduce", hierarchical_all_reduce.reference, quiet=True).run
    assert run is not None
    assert run.time == pytest.approx(14 * (NEAR + 8e6 / FABRIC) + 14 * (ALPHA + 1e6 / BANDWIDTH), rel=1e-9)


@pytest.mark.parametrize(("nodes", "per_node", "count"), [(1, 1, 3), (4, 2, 9), (2, 4, 3), (1, 5, 12), (5, 1, 12)])
def test_the_reference_works_outside_of_a_check(nodes: int, per_node: int, count: int) -> None:
    world_size = nodes * per_node
    factor = world_size * (world_size + 1) // 2
    done = sd.run(summed, per_node, count, world_size=world_size, cluster=two_levels(nodes, per_node))
    for result in done.results:
        assert list(result) == [i * factor for i in range(count)]


def test_the_naive_one_uses_one_card_of_eight() -> None:
    result = check("hierarchical_all_reduce", hierarchical_all_reduce.naive, quiet=True)
    assert [row.name for row in result.criteria if row.met is False] == [
        "simulated time", "bytes through a card", "bytes between machines",
    ]  # fmt: skip
    rows = {row.name: row for row in result.criteria}
    assert rows["bytes through a card"].yours == "126 MB, p = 64"
    assert rows["bytes through a card"].limit == "≤ 14.1 MB (1.01 of 2 (7/8) n/8)"
    assert "Is it the only one of its machine that works?" in " ".join(str(result).split())
    assert result.run is not None
    assert result.run.time > flat_ring(EXERCISE.cases[0])
