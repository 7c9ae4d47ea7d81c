from __future__ import annotations

import pytest

from simdist.comm import ALGORITHMS
from simdist.comm.layout import Layout
from simdist.comm.promise import keep, promise
from simdist.comm.rehearsal import rehearse

NODES = {
    "two nodes of four": ((0, 1, 2, 3), (4, 5, 6, 7)),
    "three nodes of two": ((0, 1), (2, 3), (4, 5)),
    "interleaved": ((0, 2, 4), (1, 3, 5)),
    "uneven": ((0, 1, 2), (3,), (4, 5)),
    "one": ((0, 1, 2),),
}


@pytest.mark.parametrize("name", ["hierarchical_all_reduce", "torus_all_reduce"])
@pytest.mark.parametrize("nodes", NODES.values(), ids=NODES)
def test_every_rank_gets_every_contribution_once(name: str, nodes: tuple[tuple[int, ...], ...]) -> None:
    layout, size, row = Layout(nodes), sum(map(len, nodes)), ALGORITHMS[name]
    keep(name, rehearse(row, size, 0, layout), promise("all_reduce", size, 0, row.pieces(size, layout)))


def test_the_slow_links_carry_one_share() -> None:
    """Two nodes of four: between the nodes each rank sends its quarter once, where a flat ring sends 7/4 of the buffer."""
    nodes = NODES["two nodes of four"]
    seen = rehearse(ALGORITHMS["hierarchical_all_reduce"], 8, 0, Layout(nodes))
    across = [e for e in seen.exchanges() if (e.src < 4) != (e.dst < 4)]
    assert sum(len(e.chunks) for e in across if e.src == 0) / 8 == 2 * (1 / 2) / 4
    assert len(seen.rounds) == 2 * 3 + 2 * 1
