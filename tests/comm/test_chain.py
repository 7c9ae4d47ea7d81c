from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, Algorithm, Call, ReduceOp, Step, Transfer
from simdist.comm.chain import Chain, chain, evaluate_chain
from simdist.comm.rehearsal import rehearse
from tests.comm.conftest import Play, request

RINGS = [row for row in ALGORITHMS.values() if row.ring]


def test_the_chain_of_a_ring_starts_behind_the_owner() -> None:
    assert chain(ALGORITHMS["ring_all_reduce"], 4) == Chain((1, 2, 3, 0), True)
    assert chain(ALGORITHMS["ring_all_gather"], 4) == Chain((0,), False)


@pytest.mark.parametrize("algorithm", RINGS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 13])
def test_it_is_what_a_rehearsal_sees(algorithm: Algorithm, size: int) -> None:
    found, seen = chain(algorithm, size), rehearse(algorithm, size)
    assert found is not None
    for chunk in range(size if size > 1 else 0):
        assert sorted((rank + chunk) % size for rank in found.ranks) == sorted(
            seen.contributions(seen.final[chunk, chunk]) if (chunk, chunk) in seen.final else [chunk]
        )


@pytest.mark.parametrize("algorithm", RINGS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("op", [ReduceOp.SUM, ReduceOp.AVG])
def test_it_gives_the_bytes_of_the_steps(
    play: Play, numbers: Any, algorithm: Algorithm, size: int, op: ReduceOp
) -> None:
    found = chain(algorithm, size)
    assert found is not None
    for length in (1, size + 1, 40):
        slow, fast = numbers(size, length), numbers(size, length)
        play(algorithm.name, slow, 0, op)
        calls = [Call(request(algorithm.name, r, size, length, 0, op), 0, fast[r]) for r in range(size)]
        evaluate_chain(calls, found)
        for rank, call in enumerate(calls):
            mine = Call(call.request, 0, slow[rank])
            chunks = (
                [rank]
                if algorithm.collective == "reduce_scatter"
                else range(algorithm.pieces(size, call.request.layout))
            )
            assert all(call.chunk(c).tobytes() == mine.chunk(c).tobytes() for c in chunks)


def test_a_large_ring_is_folded_without_looking_at_its_messages() -> None:
    found = chain(ALGORITHMS["ring_all_reduce"], 1024)
    assert found is not None and found.ranks == (*range(1, 1024), 0)
    buffers = [np.full(4, float(rank)) for rank in range(1024)]
    evaluate_chain([Call(request("ring_all_reduce", r, 1024, 4), 0, buffers[r]) for r in range(1024)], found)
    assert all((buffer == 1023 * 512).all() for buffer in buffers)


def test_what_is_no_chain_is_told() -> None:
    def jumps(rank: int, size: int) -> Iterator[Step]:
        for chunk in (rank, rank):
            yield Step(Transfer((rank + 1) % size, (chunk,)), Transfer((rank - 1) % size, ((rank - 1) % size,)), True)

    assert chain(Algorithm("jumps", "all_reduce", jumps, ring=True), 4) is None
