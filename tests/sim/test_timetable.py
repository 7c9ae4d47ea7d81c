"""Rounds of an algorithm, timed for all ranks at once, against the table that moves one message after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from simdist.cluster import presets
from simdist.comm import ALGORITHMS, Algorithm, Call, Members, Request, Step, Transfer
from simdist.comm.algorithm import one
from simdist.comm.chunks import bounds
from simdist.comm.layout import FLAT
from simdist.sim.replay import replay
from simdist.sim.timetable import Course, timetable

IN_ONE_BUFFER = [row for row in ALGORITHMS.values() if row.collective not in ("gather", "scatter", "all_to_all")]


def calls(algorithm: Algorithm, size: int, length: int) -> list[Call]:
    """What ``size`` ranks ask for; float32."""
    pieces = algorithm.pieces(size, FLAT)
    made = []
    for rank in range(size):
        members = Members(0, tuple(range(size)), rank, "world")
        cuts = bounds(length, pieces) if pieces > 1 else None
        flat = np.random.default_rng(rank).standard_normal(length).astype(np.float32)
        made.append(
            Call(Request(algorithm.collective, members, algorithm, 0, cuts, np.add, 0, (), flat.nbytes), 0, flat)
        )
    return made


@pytest.mark.parametrize("algorithm", IN_ONE_BUFFER, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("length", [0, 5, 8, 1000])
@pytest.mark.parametrize("skew", [0.0, 3e-6])
def test_it_has_the_bits_of_the_messages(algorithm: Algorithm, size: int, length: int, skew: float) -> None:
    cluster = presets.get("dgx-a100", num_devices=size)
    starts = [0.1 + skew * (rank * 7 % 5) for rank in range(size)]
    rows: list[tuple[object, ...]] = []

    def wire(src: int, dst: int) -> tuple[float, float]:
        route = cluster.route(src, dst)
        return route.bandwidth, route.latency

    expected = replay(calls(algorithm, size, length), starts, wire, None, rows)
    made = calls(algorithm, size, length)
    table = timetable(made, cluster)
    assert table.finish(starts) == expected
    course = Course(made[0].request, made[0].full_label, table, tuple(starts))
    assert sorted(course.rows()) == sorted(rows)


def across(rank: int, size: int) -> Iterator[Step]:
    """Each rank of one machine exchanges with its partner in the other."""
    yield Step(Transfer(rank ^ 8, (0,)), Transfer(rank ^ 8, (0,)), combine=True)


def test_exchanges_of_one_round_share_a_link() -> None:
    """Eight pairs of ranks cross four cables between two machines at once: each gets half a cable."""
    cluster = presets.get("dgx1-v100", num_devices=16)
    route = cluster.route(0, 8)
    sharing = [sum(link in cluster.route(rank, rank ^ 8).links for rank in range(16)) for link in route.links]
    assert max(sharing) == 2
    slowest = min(cluster.links[k].bandwidth / n for k, n in zip(route.links, sharing, strict=True))
    assert slowest < route.bandwidth
    table = timetable(calls(Algorithm("across", "all_reduce", across, pieces=one), 16, 1000), cluster)
    assert table.finish([0.0] * 16) == [4000 / slowest + route.latency] * 16
