"""Is the closed form of each algorithm what the simulator's timetable says?"""

from __future__ import annotations

from math import ceil, log2
from pathlib import Path

import numpy as np
import pytest

from simdist.cluster import Accelerator, Cluster, Link, Node
from simdist.comm import ALGORITHMS, DEFAULT, Call, Members, Request
from simdist.comm.chunks import bounds
from simdist.comm.layout import FLAT, Layout
from simdist.comm.rehearsal import rehearse
from simdist.cost import collectives
from simdist.cost.closed_forms import CLOSED_FORMS, Shape, seconds
from simdist.errors import UnknownNameError
from simdist.sim.timetable import timetable
from simdist.tensor import MetaArray

DEVICE = Accelerator("chip", {"float32": 1e12}, 1e9, 1e9)
LATENCY, BANDWIDTH = 3e-6, 7e9  # of the route between any two, which is two cables
NAMES = sorted(CLOSED_FORMS)
NODES = {
    "two of three": ((0, 1, 2), (3, 4, 5)),
    "four of two, interleaved": ((0, 4), (1, 5), (2, 6), (3, 7)),
    "unequal": ((0, 1, 2), (3,), (4, 5)),
    "one large": ((0, 1, 2, 3, 4), (5,)),
}


def uniform(size: int) -> Cluster:
    """All ranks on one switch, each with a cable of its own."""
    return Cluster("uniform", (Node((DEVICE,) * size, fabric=Link(BANDWIDTH, LATENCY / 2)),))


def simulated(name: str, size: int, layout: Layout, nbytes: int, cluster: Cluster, root: int = 0) -> float:
    """The timetable's answer; ``nbytes`` divides into the chunks."""
    row, ranks = ALGORITHMS[name], tuple(range(size))
    in_parts = row.collective in ("gather", "scatter", "all_to_all")
    pieces = row.pieces(size, layout)
    cuts = bounds(nbytes, pieces) if pieces > 1 and not in_parts else None
    calls = []
    for rank in ranks:
        members = Members(0, ranks, rank, "world")
        request = Request(row.collective, members, row, root, cuts, np.add, 0, (), nbytes, layout)
        flat = MetaArray((nbytes // size if in_parts else nbytes,), np.uint8)
        calls.append(Call(request, 0, flat, None, {} if in_parts else None))
    return max(timetable(calls, cluster).finish([0.0] * size))


def shape(size: int, layout: Layout, *, nodes: bool) -> Shape:
    rows = (layout.nodes or (tuple(range(size)),)) if nodes else layout.rows(size)
    return Shape(size, max(map(len, rows)), len(rows), layout.pieces)


def test_every_algorithm_has_a_form() -> None:
    assert set(CLOSED_FORMS) == set(ALGORITHMS)
    assert all(row.text for row in CLOSED_FORMS.values())


def test_the_table_of_the_documentation_is_this_one() -> None:
    lines = (Path(__file__).parents[2] / "docs" / "algorithms.md").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith(("| `", "| **`"))]
    told = {row[0].strip("| *`"): row[1].strip("`") for row in rows}
    assert told == {name: row.text for name, row in CLOSED_FORMS.items()}
    assert {row[0].strip("| *`") for row in rows if "**" in row[0]} == {row.name for row in DEFAULT.values()}


def agree(name: str, size: int, layout: Layout, root: int = 0) -> None:
    nbytes = 0 if name == "dissemination_barrier" else 5040 * size * ALGORITHMS[name].pieces(size, layout)
    told = shape(size, layout, nodes=name.startswith("hier"))
    expected = seconds(name, told, nbytes, LATENCY, BANDWIDTH)
    found = simulated(name, size, layout, nbytes, uniform(size), root)
    if CLOSED_FORMS[name].exact:
        assert found == pytest.approx(expected, rel=1e-12)
    else:
        assert expected * (1 - 1e-12) - ceil(log2(size)) * LATENCY <= found <= expected * (1 + 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", range(1, 18))
def test_it_is_the_time_on_an_idle_network(name: str, size: int) -> None:
    for pieces in (
        (1, 4) if ALGORITHMS[name].pieces(size, Layout(pieces=4)) != ALGORITHMS[name].pieces(size, FLAT) else (1,)
    ):
        for root in sorted({0, size - 1}):
            agree(name, size, Layout(pieces=pieces), root)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [31, 48, 64])
def test_it_is_the_time_of_many_ranks(name: str, size: int) -> None:
    agree(name, size, Layout(pieces=3))


@pytest.mark.parametrize("name", ["torus_all_reduce", "hierarchical_all_reduce"])
@pytest.mark.parametrize("nodes", NODES.values(), ids=NODES)
def test_it_is_the_time_on_rows_and_nodes(name: str, nodes: tuple[tuple[int, ...], ...]) -> None:
    agree(name, sum(map(len, nodes)), Layout(nodes))


@pytest.mark.parametrize("name", [name for name, row in CLOSED_FORMS.items() if not row.exact])
@pytest.mark.parametrize("size", range(2, 40))
def test_where_latencies_are_saved_the_bytes_and_the_rounds_are_exact(name: str, size: int) -> None:
    layout = Layout(pieces=2)
    told = Shape(size, pieces=2)
    idle = Cluster("no latency", (Node((DEVICE,) * size, fabric=Link(BANDWIDTH)),))
    nbytes = 5040 * size * ALGORITHMS[name].pieces(size, layout)
    expected = seconds(name, told, nbytes, 0.0, BANDWIDTH)
    assert simulated(name, size, layout, nbytes, idle) == pytest.approx(expected, rel=1e-12)
    assert CLOSED_FORMS[name].latencies(told) == len(rehearse(ALGORITHMS[name], size, 0, layout).rounds)


# comm's name -> the textbook's, where both count alike; with a power of two they are one formula.
TEXTBOOK = {
    "ring_all_reduce": "ring", "recursive_doubling_all_reduce": "recursive_doubling",
    "halving_doubling_all_reduce": "halving_doubling", "binomial_tree_all_reduce": "binomial_tree",
    "ring_reduce_scatter": "ring", "recursive_halving_reduce_scatter": "recursive_halving", "ring_all_gather": "ring",
    "recursive_doubling_all_gather": "recursive_doubling", "bruck_all_gather": "bruck",
    "binomial_broadcast": "binomial", "scatter_all_gather_broadcast": "scatter_all_gather",
    "binomial_reduce": "binomial", "star_reduce": "star", "binomial_gather": "binomial", "star_gather": "star",
    "binomial_scatter": "binomial", "pairwise_all_to_all": "pairwise", "dissemination_barrier": "dissemination",
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTBOOK)
@pytest.mark.parametrize("size", [1, 2, 4, 8, 64, 1024])
def test_with_a_power_of_two_it_is_the_textbook_s(name: str, size: int) -> None:
    expected = collectives.seconds(ALGORITHMS[name].collective, TEXTBOOK[name], size, 1e6, LATENCY, BANDWIDTH)
    assert seconds(name, Shape(size), 1e6, LATENCY, BANDWIDTH) == pytest.approx(expected, rel=1e-12)


def test_long_buffers_through_two_trees_come_close_to_the_idealised_form() -> None:
    """With m = 4096 pieces of 16 GB on 8 ranks: 2 n beta and little more."""
    ideal = collectives.seconds("all_reduce", "double_binary_tree", 8, 16e9, LATENCY, BANDWIDTH)
    found = seconds("double_tree_all_reduce", Shape(8, pieces=4096), 16e9, LATENCY, BANDWIDTH)
    assert ideal < found < 1.02 * ideal


def test_names_are_checked() -> None:
    with pytest.raises(
        UnknownNameError, match=r"no closed form named 'ring_al_reduce'\. Did you mean 'ring_all_reduce'"
    ):
        seconds("ring_al_reduce", Shape(4), 1, 1, 1)
