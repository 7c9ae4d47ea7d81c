from __future__ import annotations

from collections import Counter

import pytest

import simdist as sd
from simdist.comm import ALGORITHMS
from simdist.comm.choose import Chooser, named
from simdist.comm.double_tree import _trees
from simdist.comm.layout import Layout
from simdist.comm.promise import keep, promise
from simdist.comm.rehearsal import rehearse

from .conftest import request

NAMES = ["double_tree_broadcast", "double_tree_reduce", "double_tree_all_reduce"]


def depth(size: int) -> int:
    """After how many rounds a broadcast's first pieces are everywhere."""
    return 2 * (size - 1).bit_length() - 1 + (size % 4 == 3 or size & (size - 1) == 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", range(1, 18))
@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_pieces_follow_each_other_in_the_known_number_of_rounds(name: str, size: int, pieces: int) -> None:
    row, layout = ALGORITHMS[name], Layout(pieces=pieces)
    for root in sorted({0, size // 2, size - 1}):
        seen = rehearse(row, size, root, layout)
        keep(name, seen, promise(row.collective, size, root, row.pieces(size, layout)))
        ways = 2 if row.collective == "all_reduce" else 1
        assert len(seen.rounds) == (ways * (2 * pieces - 2 + depth(size)) if size > 1 else 0)


@pytest.mark.parametrize("size", [33, 46, 64, 100, 255])
def test_many_ranks(size: int) -> None:
    for name in NAMES[:2]:
        seen = rehearse(ALGORITHMS[name], size, 0, Layout(pieces=2))
        keep(name, seen, promise(ALGORITHMS[name].collective, size, 0, 4))
        assert len(seen.rounds) == 2 + depth(size)


@pytest.mark.parametrize("size", range(2, 40))
def test_nobody_is_an_inner_rank_of_both_trees(size: int) -> None:
    first, second = _trees(size)
    assert set(first) == set(second) == set(range(1, size))
    inner = [set(tree.values()) - {0} for tree in (first, second)]
    assert not inner[0] & inner[1]
    for tree in (first, second):
        assert max(Counter(tree.values()).values()) <= 2
        for child in tree:
            steps = 0
            while child := tree.get(child, 0):
                steps += 1
            assert steps < (size - 1).bit_length()


@pytest.mark.parametrize("size", [5, 8, 16])
def test_inside_the_pipeline_every_rank_sends_and_receives(size: int) -> None:
    """With m pieces of each tree a broadcast moves (p - 1) 2 m messages in little more than 2 m rounds."""
    seen = rehearse(ALGORITHMS["double_tree_broadcast"], size, 0, Layout(pieces=16))
    full = seen.rounds[depth(size) : -depth(size)]
    assert full and all(len(group) == size - 1 for group in full)
    assert all(len({e.src for e in group}) == len({e.dst for e in group}) == size - 1 for group in full)


def test_one_rank_asks_for_as_many_chunks_as_two_trees_have_pieces() -> None:
    made = request("double_tree_all_reduce", 0, 4, 24, layout=Layout(pieces=3))
    assert made.cuts == (0, 4, 8, 12, 16, 20, 24)


def test_the_number_of_pieces_is_the_best_one() -> None:
    cluster, nbytes, size = sd.clusters.get("dgx-a100", num_devices=16), 1 << 22, 16
    route = cluster.route(0, 8)
    _, layout = Chooser(cluster, named({"reduce": "double_tree_reduce"})).choose("reduce", tuple(range(size)), nbytes)

    def seconds(pieces: int) -> float:
        return (depth(size) - 2 + 2 * pieces) * (route.latency + nbytes / (2 * pieces) / route.bandwidth)

    assert layout.pieces > 1
    assert seconds(layout.pieces) == pytest.approx(min(map(seconds, range(1, 65))), rel=0.01)


def test_a_long_broadcast_takes_little_more_than_its_bytes() -> None:
    """The bound is n / bandwidth; the usual tree takes three times as long on eight ranks."""
    league = sd.collectives.league("broadcast", cluster="dgx-a100", world_size=8, nbytes=1 << 30)
    distance = {s.algorithm: s.distance for s in league.standings}
    assert distance["double_tree_broadcast"] < 1.06
    assert distance["binomial_broadcast"] > 2.9
