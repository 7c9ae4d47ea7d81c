from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.learn import Check, check
from simdist.learn.exercises.exchange import EXERCISE, given, spec

STORE: dict[int, Any] = {}


def missed(fn: Any) -> list[str]:
    result: Check = check("exchange", fn, quiet=True)
    return [row.name for row in result.criteria if row.met is False]


def test_the_spec_is_the_left_neighbours_buffer() -> None:
    case = EXERCISE.cases[-1]
    assert np.array_equal(spec(case)[0], given(case, 2))
    assert np.array_equal(spec(case)[1], given(case, 0))


def test_the_worlds_are_those_of_the_statement() -> None:
    assert {case.world_size for case in EXERCISE.cases} == {2, 3, 8}


def test_returning_the_own_buffer_moves_too_little() -> None:
    assert missed(lambda x, rank, p: x) == [
        "numbers equal the spec's", "simulated time", "bytes sent by a rank", "messages of a rank",
    ]  # fmt: skip


def test_knowing_the_answer_is_not_enough() -> None:
    """The right numbers without a message: faster than any right program, and too few bytes."""
    from simdist.learn.exercises import exchange

    def clairvoyant(x: Any, rank: int, world_size: int) -> Any:
        (case,) = [one for one in exchange.EXERCISE.cases if (one.world_size, one.size) == (world_size, len(x))]
        return exchange.spec(case)[rank]

    assert missed(clairvoyant) == ["simulated time", "bytes sent by a rank", "messages of a rank"]


def test_a_variable_of_the_module_is_not_shared() -> None:
    def through_a_global(x: Any, rank: int, world_size: int) -> Any:
        STORE[rank] = x
        received = np.zeros_like(x)
        incoming = dist.irecv(received, (rank - 1) % world_size)
        dist.isend(x, (rank + 1) % world_size).wait()
        incoming.wait()
        return STORE.get((rank - 1) % world_size)

    assert missed(through_a_global) == ["numbers equal the spec's"]
    assert STORE == {}


def test_even_and_odd_take_turns_and_are_too_slow() -> None:
    def even_first(x: Any, rank: int, world_size: int) -> Any:
        received = np.empty_like(x)
        for even in (True, False):
            if (rank % 2 == 0) is even:
                dist.send(x, (rank + 1) % world_size)
            else:
                dist.recv(received, (rank - 1) % world_size)
        return received

    assert missed(even_first) == ["simulated time"]


def test_sleeping_costs_time() -> None:
    def sleepy(x: Any, rank: int, world_size: int) -> Any:
        sd.sleep(1e-6)
        received = np.empty_like(x)
        incoming = dist.irecv(received, (rank - 1) % world_size)
        dist.isend(x, (rank + 1) % world_size).wait()
        incoming.wait()
        return received

    assert missed(sleepy) == ["simulated time"]


def test_sending_to_everybody_moves_too_much() -> None:
    def everybody(x: Any, rank: int, world_size: int) -> Any:
        parts = [np.empty_like(x) for _ in range(world_size)]
        dist.all_gather(parts, x)
        return parts[(rank - 1) % world_size]

    assert missed(everybody) == ["simulated time", "bytes sent by a rank", "messages of a rank"]


@pytest.mark.parametrize("pieces", [2, 5])
def test_many_small_messages_pay_alpha_each(pieces: int) -> None:
    def in_pieces(x: Any, rank: int, world_size: int) -> Any:
        received = np.empty_like(x)
        for a, b in zip(np.array_split(x, pieces), np.array_split(received, pieces), strict=True):
            incoming = dist.irecv(b, (rank - 1) % world_size)
            dist.isend(a, (rank + 1) % world_size).wait()
            incoming.wait()
        return received

    assert missed(in_pieces) == ["simulated time", "messages of a rank"]
