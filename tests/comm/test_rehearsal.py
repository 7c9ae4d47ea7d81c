from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from simdist.comm import ALGORITHMS, Algorithm, Step, Transfer
from simdist.comm.layout import Layout
from simdist.comm.rehearsal import Combined, Divided, Held, rehearse
from simdist.errors import AlgorithmError


def test_the_rounds_of_a_ring() -> None:
    seen = rehearse(ALGORITHMS["ring_all_reduce"], 3)
    assert len(seen.rounds) == 4
    assert [(e.src, e.dst, e.chunks, e.combine) for e in seen.rounds[0]] == [
        (0, 1, (2,), True), (1, 2, (0,), True), (2, 0, (1,), True),
    ]  # fmt: skip
    assert not any(e.combine for e in seen.rounds[2])
    assert seen.begins == ((0, 1, 2),) * 4


def test_the_rounds_of_a_tree_grow() -> None:
    seen = rehearse(ALGORITHMS["binomial_broadcast"], 8)
    assert [len(group) for group in seen.rounds] == [1, 2, 4]


def test_a_star_is_one_message_after_the_other() -> None:
    seen = rehearse(ALGORITHMS["star_gather"], 4, root=1)
    assert [[e.src for e in group] for group in seen.rounds] == [[0], [2], [3]]


def test_an_expression_has_the_lower_rank_on_the_left() -> None:
    seen = rehearse(ALGORITHMS["ring_all_reduce"], 3)
    divided = seen.values[seen.final[0, 0]]
    assert isinstance(divided, Divided)
    # chunk 0 starts at rank 1, passes rank 2, ends at rank 0
    top = seen.values[divided.value]
    assert isinstance(top, Combined)
    assert seen.values[top.left] == Held(0, 0)
    assert seen.contributions(seen.final[0, 0]) == [0, 1, 2]
    assert {seen.final[rank, 0] for rank in range(3)} == {seen.final[0, 0]}


def test_a_chunk_that_nothing_reached_is_untouched() -> None:
    seen = rehearse(ALGORITHMS["ring_all_gather"], 3)
    assert seen.is_untouched(1, 1) and not seen.is_untouched(1, 0)


def test_an_exchange_carries_what_was_there_when_it_was_posted() -> None:
    def swap(rank: int, size: int) -> Iterator[Step]:
        yield Step(Transfer(1 - rank, (0,)), Transfer(1 - rank, (0,)), combine=True)

    seen = rehearse(Algorithm("swap", "all_reduce", swap), 2)
    assert seen.final[0, 0] == seen.final[1, 0]
    assert seen.values[seen.final[0, 0]] == Combined(0, 1)


def lost(rank: int, size: int) -> Iterator[Step]:
    """Rank 1 forgets to receive."""
    if rank == 0:
        yield Step(send=Transfer(1, (0,)))


def uneven(rank: int, size: int) -> Iterator[Step]:
    """Two chunks leave, one is expected."""
    yield Step(send=Transfer(1, (0, 1))) if rank == 0 else Step(recv=Transfer(0, (0,)))


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (lost, "mine on 2 ranks never ends: the steps of different ranks do not fit together.\n"
               "  rank 0 is at step 0: send 0 to 1"),
        (uneven, "mine: rank 0 sends chunks 0-1 to rank 1, which receives 0 from it: both steps must name as many chunks"),
    ],
)  # fmt: skip
def test_steps_that_do_not_fit(steps: object, text: str) -> None:
    with pytest.raises(AlgorithmError, match=re.escape(text)):
        rehearse(Algorithm("mine", "broadcast", steps), 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["halving_doubling_all_reduce", "bruck_all_to_all", "chain_broadcast"])
@pytest.mark.parametrize("size", [1, 5, 8])
def test_without_values_the_rounds_are_the_same(name: str, size: int) -> None:
    seen, bare = (rehearse(ALGORITHMS[name], size, 0, Layout(pieces=3), values=v) for v in (True, False))
    assert [[e._replace(values=()) for e in group] for group in seen.rounds] == [list(group) for group in bare.rounds]
    assert bare.begins == seen.begins
    assert not bare.values and not bare.final
