from __future__ import annotations

from collections import Counter

import pytest

from simdist.comm import ALGORITHMS
from simdist.comm.algorithm import Algorithm
from simdist.comm.contents import GIVEN, stages
from simdist.comm.layout import Layout
from simdist.comm.promise import ALL, PROMISES, promise
from simdist.comm.rehearsal import Held, rehearse
from simdist.errors import UnknownNameError

LAYOUT = Layout(pieces=3)


@pytest.mark.parametrize("row", ALGORITHMS.values(), ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8])
def test_after_the_last_round_everything_is_where_the_collective_promises_it(row: Algorithm, size: int) -> None:
    for root in sorted({0, size - 1}):
        pieces = row.pieces(size, LAYOUT)
        last = stages(row.collective, rehearse(row, size, root, LAYOUT), pieces, root)[-1]
        for (rank, chunk), source in promise(row.collective, size, root, pieces).items():
            held = last.holds[rank, chunk]
            wanted = range(size) if source == ALL else [source]
            assert Counter(held) == Counter(Held(owner, chunk) for owner in wanted)


@pytest.mark.parametrize("row", ALGORITHMS.values(), ids=str)
def test_there_is_a_stage_for_each_round_and_every_message_arrives_in_one(row: Algorithm) -> None:
    seen = rehearse(row, 6, 0, LAYOUT)
    found = stages(row.collective, seen, row.pieces(6, LAYOUT))
    assert len(found) == len(seen.rounds) + 1
    assert found[0].arrivals == ()
    assert [len(stage.arrivals) for stage in found[1:]] == [sum(len(e.chunks) for e in group) for group in seen.rounds]


def test_a_ring_of_three_round_by_round() -> None:
    found = stages("all_reduce", rehearse(ALGORITHMS["ring_all_reduce"], 3), 3)

    def owners(stage: int, rank: int) -> list[str]:
        return ["".join(sorted(str(held.rank) for held in found[stage].holds[rank, chunk])) for chunk in range(3)]

    assert [owners(0, rank) for rank in range(3)] == [["0"] * 3, ["1"] * 3, ["2"] * 3]
    assert [owners(1, rank) for rank in range(3)] == [["0", "02", "0"], ["1", "1", "01"], ["12", "2", "2"]]
    assert all(owners(4, rank) == ["012"] * 3 for rank in range(3))
    assert {arrival.combine for arrival in found[2].arrivals} == {True}
    assert {arrival.combine for arrival in found[3].arrivals} == {False}


def test_what_means_nothing_yet_is_not_there() -> None:
    found = stages("broadcast", rehearse(ALGORITHMS["binomial_broadcast"], 4, 2), 1, 2)
    assert set(found[0].holds) == {(2, 0)}
    assert len(found[1].holds) == 2
    assert len(found[2].holds) == 4


def test_in_a_barrier_the_chunk_stands_for_who_is_known_to_have_come() -> None:
    found = stages("barrier", rehearse(ALGORITHMS["dissemination_barrier"], 5), 1)
    assert [len(found[k].holds[0, 0]) for k in range(4)] == [1, 2, 4, 5]
    assert {held.rank for held in found[1].holds[0, 0]} == {0, 4}


def test_every_collective_says_what_counts_at_the_start() -> None:
    assert set(GIVEN) == set(PROMISES)
    with pytest.raises(UnknownNameError, match="no collective named 'all_reduse'"):
        stages("all_reduse", rehearse(ALGORITHMS["ring_all_reduce"], 2), 2)
