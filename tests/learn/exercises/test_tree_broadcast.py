from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.learn import check
from simdist.learn.case import Case
from simdist.learn.exercises.tree_broadcast import EXERCISE, given, least, root_of, rounds, spec
from simdist.learn.solutions.tree_broadcast import reference


def missed(fn: Any) -> list[str]:
    return [row.name for row in check("tree_broadcast", fn, quiet=True).criteria if row.met is False]


def test_the_worlds_are_those_of_the_statement() -> None:
    assert {case.world_size for case in EXERCISE.cases} == {1, 2, 3, 5, 8, 16}
    assert all(case.nbytes == 8 * case.size for case in EXERCISE.cases)


def test_other_ranks_than_0_are_roots_too() -> None:
    assert [root_of(case) for case in EXERCISE.cases] == [0, 0, 1, 2, 3, 1, 3]


def test_the_spec_is_the_roots_buffer() -> None:
    case = EXERCISE.cases[3]
    assert all(np.array_equal(one, given(case, 2)) for one in spec(case))
    assert not np.array_equal(given(case, 0), given(case, 2))


@pytest.mark.parametrize(("world_size", "number"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (64, 6)])
def test_the_number_of_rounds(world_size: int, number: int) -> None:
    assert rounds(Case(world_size, 1, 1)) == number


def test_nothing_beats_the_lower_limit() -> None:
    assert least(Case(8, 1, 1, nbytes=25_000)) == pytest.approx(5e-6 + 3e-6)
    assert least(Case(1, 1, 1, nbytes=25_000)) == 0.0


def test_the_ready_made_collective_is_not_the_exercise() -> None:
    assert missed(lambda x, root, rank, p: dist.broadcast(x, src=root)) == ["ready-made collectives"]


def test_doing_nothing_moves_too_little() -> None:
    assert missed(lambda x, root, rank, p: None) == [
        "numbers equal the spec's", "simulated time", "messages in all", "bytes on the wire",
    ]  # fmt: skip


def test_a_chain_tells_everybody_one_after_the_other() -> None:
    def chain(x: Any, root: int, rank: int, world_size: int) -> None:
        place = (rank - root) % world_size
        if place:
            dist.recv(x, (rank - 1) % world_size)
        if place < world_size - 1:
            dist.send(x, (rank + 1) % world_size)

    assert missed(chain) == ["simulated time"]


def test_two_children_for_each_are_too_slow() -> None:
    """A tree in which everybody tells exactly two: who has told two is idle, though the news is not everywhere."""

    def heap(x: Any, root: int, rank: int, world_size: int) -> None:
        place = (rank - root) % world_size
        if place:
            dist.recv(x, (root + (place - 1) // 2) % world_size)
        for child in (2 * place + 1, 2 * place + 2):
            if child < world_size:
                dist.send(x, (root + child) % world_size)

    assert missed(heap) == ["simulated time"]


def test_the_root_is_not_always_rank_0() -> None:
    def from_0(x: Any, root: int, rank: int, world_size: int) -> None:
        reference(x, 0, rank, world_size)

    assert missed(from_0) == ["numbers equal the spec's"]


def test_half_the_precision_is_half_the_truth() -> None:
    def single(x: Any, root: int, rank: int, world_size: int) -> None:
        half = x.astype(np.float32)
        reference(half, root, rank, world_size)
        x[:] = half

    assert missed(single) == ["numbers equal the spec's", "simulated time", "bytes on the wire"]


def test_a_pipeline_of_pieces_is_another_exercise() -> None:
    def pieces(x: Any, root: int, rank: int, world_size: int) -> None:
        for piece in np.array_split(x, 4):
            reference(piece, root, rank, world_size)

    assert "messages in all" in missed(pieces)


def test_telling_everybody_twice_is_seen() -> None:
    def twice(x: Any, root: int, rank: int, world_size: int) -> None:
        reference(x, root, rank, world_size)
        reference(x, root, rank, world_size)

    assert missed(twice) == ["simulated time", "messages in all", "bytes on the wire"]
