from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, Algorithm, Call, ReduceOp, definitions
from simdist.comm.evaluate import compiled, evaluate
from simdist.comm.layout import FLAT, Layout
from simdist.comm.promise import ALL, promise
from tests.comm.conftest import Play, request

IN_ONE_BUFFER = [row for row in ALGORITHMS.values() if row.collective not in ("gather", "scatter", "all_to_all")]


@pytest.mark.parametrize("algorithm", IN_ONE_BUFFER, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("op", [ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MAX])
def test_it_gives_the_bytes_of_the_steps(
    play: Play, numbers: Any, algorithm: Algorithm, size: int, op: ReduceOp
) -> None:
    pieces = algorithm.pieces(size, FLAT)
    for length in (0, 1, size - 1, size, size + 1, 40):
        for root in sorted({0, size - 1}):
            slow, fast = numbers(size, length), numbers(size, length)
            play(algorithm.name, slow, root, op)
            calls = [Call(request(algorithm.name, r, size, length, root, op), 0, fast[r]) for r in range(size)]
            evaluate(calls)
            slow_calls = [Call(call.request, 0, slow[r]) for r, call in enumerate(calls)]
            for rank, chunk in promise(algorithm.collective, size, root, pieces):
                assert calls[rank].chunk(chunk).tobytes() == slow_calls[rank].chunk(chunk).tobytes()


@pytest.mark.parametrize("algorithm", IN_ONE_BUFFER, ids=str)
@pytest.mark.parametrize("size", range(1, 18))
def test_every_algorithm_gives_what_its_collective_means(algorithm: Algorithm, size: int) -> None:
    """Whole numbers, so that the order of additions cannot show."""
    layout = Layout(pieces=3)
    pieces, root = algorithm.pieces(size, layout), size // 2
    for length in (0, 1, size - 1, size, size + 1, 1000):
        before = [np.random.default_rng([length, r]).integers(-99, 99, length).astype(np.float64) for r in range(size)]
        made = [request(algorithm.name, r, size, length, root, layout=layout) for r in range(size)]
        was = [Call(made[r], 0, before[r]) for r in range(size)]
        now = [Call(made[r], 0, before[r].copy()) for r in range(size)]
        evaluate(now)
        for (rank, chunk), source in promise(algorithm.collective, size, root, pieces).items():
            whole = definitions.reduce([call.chunk(chunk) for call in was])
            wanted = whole if source == ALL else was[source].chunk(chunk)
            np.testing.assert_array_equal(now[rank].chunk(chunk), wanted)


def test_what_is_not_promised_stays_as_it_was(numbers: Any) -> None:
    buffers = numbers(4, 8)
    before = [buffer.copy() for buffer in buffers]
    evaluate([Call(request("ring_reduce_scatter", r, 4, 8), 0, buffers[r]) for r in range(4)])
    for rank, (old, new) in enumerate(zip(before, buffers, strict=True)):
        mine = np.zeros(8, bool)
        mine[2 * rank : 2 * rank + 2] = True
        assert (old[~mine] == new[~mine]).all() and not (old[mine] == new[mine]).any()


def test_chunks_that_are_arrays_of_their_own() -> None:
    parts = [{0: np.zeros(2), 1: np.zeros(2), 2: np.zeros(2)}, {1: np.array([1.0, 2.0])}, {2: np.array([3.0, 4.0])}]
    parts[0][0][:] = 9
    evaluate([Call(request("star_gather", r, 3, 6), 0, parts[r][r], parts=parts[r]) for r in range(3)])
    assert [parts[0][i].tolist() for i in range(3)] == [[9, 9], [1, 2], [3, 4]]


@pytest.mark.parametrize("size", [2, 8, 13])
def test_a_program_adds_each_number_once_and_needs_no_more_room_than_one_buffer(size: int) -> None:
    program = compiled(ALGORITHMS["ring_all_reduce"], size, 0, FLAT, size)
    additions = [instruction for instruction in program.instructions if instruction.right is not None]
    assert len(additions) == size * (size - 1)
    assert sorted(program.registers) == list(range(size))
    assert program.joined and not program.copies


def test_a_tree_needs_few_registers() -> None:
    program = compiled(ALGORITHMS["binomial_reduce"], 64, 0, FLAT, 1)
    assert len(program.registers) <= 7
