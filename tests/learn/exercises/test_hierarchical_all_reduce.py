from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.learn import check
from simdist.learn.exercises.hierarchical_all_reduce import EXERCISE, card, flat_ring, machines
from simdist.learn.solutions import small_all_reduce
from simdist.learn.solutions.hierarchical_all_reduce import reference
from simdist.learn.summing import given, spec


def missed(fn: Any) -> list[str]:
    return [row.name for row in check("hierarchical_all_reduce", fn, quiet=True).criteria if row.met is False]


def test_the_measured_case_is_64_megabytes_on_8_machines_of_8() -> None:
    case = EXERCISE.cases[0]
    assert (case.world_size, case.per_node, case.nbytes) == (64, 8, 64_000_000)
    assert given(case, 0).nbytes * case.scale == case.nbytes
    assert [machines(case).node_of(rank) for rank in (0, 7, 8, 63)] == [0, 0, 1, 7]


def test_the_limits_are_those_of_the_statement() -> None:
    case = EXERCISE.cases[0]
    assert card(case) == 2 * 7 / 8 * 64e6 / 8
    assert flat_ring(case) == pytest.approx(2 * 63 / 64 * 64e6 / 25e9)


def test_the_other_worlds_have_single_machines_and_single_ranks() -> None:
    shapes = {(case.world_size // case.per_node, case.per_node) for case in EXERCISE.cases}
    assert shapes == {(8, 8), (1, 1), (1, 2), (3, 1), (3, 2), (2, 3), (1, 8)}
    assert all(machines(case).num_devices == case.world_size for case in EXERCISE.cases)


def test_the_spec_is_the_sum() -> None:
    case = EXERCISE.cases[4]
    assert np.allclose(spec(case)[0], sum(given(case, rank) for rank in range(6)), rtol=1e-14)


def test_the_ready_made_collective_is_not_the_exercise() -> None:
    assert "ready-made collectives" in missed(lambda x, rank, p, per_node: dist.all_reduce(x))


def test_doing_nothing_moves_too_little() -> None:
    assert missed(lambda x, rank, p, per_node: None) == [
        "numbers equal the spec's", "ranks that differ", "simulated time", "bytes between machines",
    ]  # fmt: skip


def test_a_leader_for_each_machine_leaves_seven_cards_idle() -> None:
    def leaders(x: Any, rank: int, world_size: int, per_node: int) -> None:
        first = rank - rank % per_node
        if rank != first:
            dist.send(x, first)
            dist.recv(x, first)
            return
        arrived = np.empty_like(x)
        for other in range(first + 1, first + per_node):
            dist.recv(arrived, other)
            x += arrived
        heads = list(range(0, world_size, per_node))
        me, p = heads.index(rank), len(heads)
        mine = x.copy()
        parts = {rank: mine}
        for step in range(1, p):
            parts[heads[me - step]] = np.empty_like(x)
            incoming = dist.irecv(parts[heads[me - step]], heads[me - step])
            dist.isend(mine, heads[(me + step) % p]).wait()
            incoming.wait()
        x[:] = sum(parts[head] for head in heads)
        for other in range(first + 1, first + per_node):
            dist.send(x, other)

    assert missed(leaders) == ["simulated time", "bytes through a card", "bytes between machines"]


def test_doubling_without_looking_at_the_machines_sends_everything_out() -> None:
    def flat(x: Any, rank: int, world_size: int, per_node: int) -> None:
        if world_size in (1, 2, 8, 64):
            small_all_reduce.reference(x, rank, world_size)
        else:
            reference(x, rank, world_size, per_node)

    assert missed(flat) == ["simulated time", "bytes through a card", "bytes between machines"]


def test_adding_up_inside_only_hears_nothing_of_other_machines() -> None:
    def inside(x: Any, rank: int, world_size: int, per_node: int) -> None:
        first = rank - rank % per_node
        reference(x, rank - first, per_node, per_node) if first == 0 else None

    assert "bytes between machines" in missed(inside)


def test_half_the_precision_moves_too_little() -> None:
    def single(x: Any, rank: int, world_size: int, per_node: int) -> None:
        half = x.astype(np.float32)
        reference(half, rank, world_size, per_node)
        x[:] = half

    assert missed(single) == ["numbers equal the spec's", "bytes between machines"]


def test_the_chunk_that_a_rank_ends_with_is_not_its_place() -> None:
    """A ring's first half leaves rank r with chunk r + 1: whoever takes chunk r adds up half-done sums."""

    def own_place(x: Any, rank: int, world_size: int, per_node: int) -> None:
        from simdist.learn.solutions import hierarchical_all_reduce as parts

        node, place = divmod(rank, per_node)
        inside, across = range(node * per_node, (node + 1) * per_node), range(place, world_size, per_node)
        parts._reduce_scatter(x, inside, place)
        part = parts._chunks(x, per_node)[place]
        parts._reduce_scatter(part, across, node)
        parts._all_gather(part, across, node)
        parts._all_gather(x, inside, place)

    assert missed(own_place)[:1] == ["numbers equal the spec's"]
