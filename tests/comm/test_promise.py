from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from simdist.comm import ALGORITHMS, Algorithm, Step, Transfer
from simdist.comm.layout import FLAT
from simdist.comm.promise import PROMISES, keep, promise
from simdist.comm.rehearsal import rehearse
from simdist.errors import AlgorithmError, UnknownNameError


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=str)
@pytest.mark.parametrize("size", range(1, 18))
def test_every_algorithm_keeps_its_promise(algorithm: Algorithm, size: int) -> None:
    for root in sorted({0, size // 2, size - 1}):
        pieces = algorithm.pieces(size, FLAT)
        keep(algorithm.name, rehearse(algorithm, size, root), promise(algorithm.collective, size, root, pieces))


def test_every_collective_promises_something() -> None:
    assert {row.collective for row in ALGORITHMS.values()} <= set(PROMISES)
    assert promise("barrier", 4, 0, 1) == {}
    assert promise("all_to_all", 2, 0, 4) == {(0, 2): 1, (1, 1): 0}


def test_an_unknown_collective() -> None:
    with pytest.raises(
        UnknownNameError, match=r"there is no collective named 'all_reduced'\. Did you mean 'all_reduce'"
    ):
        promise("all_reduced", 2, 0, 1)


def forgetful(rank: int, size: int) -> Iterator[Step]:
    """A ring that stops one step early."""
    for k in range(size - 2):
        yield Step(
            Transfer((rank + 1) % size, ((rank - k - 1) % size,)),
            Transfer((rank - 1) % size, ((rank - k - 2) % size,)),
            True,
        )


def twice(rank: int, size: int) -> Iterator[Step]:
    """Both exchange twice."""
    for _ in range(2):
        yield Step(Transfer(1 - rank, (0, 1)), Transfer(1 - rank, (0, 1)), combine=True)


def wrong_chunk(rank: int, size: int) -> Iterator[Step]:
    """The root's chunk 1 lands in chunk 0."""
    yield Step(send=Transfer(1, (1,))) if rank == 0 else Step(recv=Transfer(0, (0,)))


@pytest.mark.parametrize(
    ("collective", "steps", "size", "text"),
    [
        ("reduce_scatter", forgetful, 3, "chunk 0 of rank 0 holds chunk 0 of rank 0, but it must hold "
                                         "the contributions of ranks 0, 1, 2, each once."),
        ("all_reduce", twice, 2, "chunk 0 of rank 0 holds the contributions of ranks 0, 0, 1, 1, but it must hold the "
                                 "contributions of ranks 0, 1, each once."),
        ("broadcast", wrong_chunk, 2, "chunk 0 of rank 1 holds chunk 1 of rank 0, but it must hold chunk 0 of rank 0."),
        ("all_gather", lambda rank, size: iter(()), 2, "chunk 1 of rank 0 holds chunk 1 of rank 0, but it must hold "
                                                       "chunk 1 of rank 1."),
    ],
)  # fmt: skip
def test_a_broken_promise_is_told(collective: str, steps: object, size: int, text: str) -> None:
    row = Algorithm("mine", collective, steps)  # type: ignore[arg-type]
    with pytest.raises(AlgorithmError, match=re.escape(f"mine on {size} ranks: at the end {text}")):
        keep("mine", rehearse(row, size), promise(collective, size, 0, size))
