"""Is a collective's speed what nccl-tests would print, in a trace and added up?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.cost.collective_use import CollectiveUse, collective_use, rate, rated
from simdist.trace import Trace

Rows = list[tuple[Any, ...]]

GIGABYTE = 10**9
CASE = {
    "all_reduce": 175e9, "all_gather": 87.5e9, "all_gather_into_tensor": 87.5e9, "reduce_scatter": 87.5e9,
    "reduce_scatter_tensor": 87.5e9, "all_to_all": 87.5e9, "all_to_all_single": 87.5e9, "broadcast": 100e9, "reduce": 100e9,
}  # fmt: skip


def rows(collective: str, *, size: int = 8, nbytes: int = GIGABYTE, start: float = 0.0, number: int = 0) -> Rows:
    """A collective of ten milliseconds for which rank 0 waits half a second."""
    name = f"{collective} #{number}"
    details = {"group": "world", "sequence": number, "bytes": nbytes, "size": size, "collective": collective}
    begin, end = start + 0.5, start + 0.51
    found: Rows = [(0, "comm:0", "wait", name, start, begin, {"op": name, "group": "world"})]
    for stream in ("main", "comm:0"):
        found += [(rank, stream, "communication", name, begin, end, details) for rank in range(size)]
    return found


@pytest.mark.parametrize(("collective", "bus"), CASE.items())
def test_a_gigabyte_on_eight_ranks_in_ten_milliseconds(collective: str, bus: float) -> None:
    spans = rows(collective)
    rate(spans)
    for span in spans[1:]:
        assert span[6]["algbw"] == pytest.approx(100e9, rel=1e-9)
        assert span[6]["busbw"] == pytest.approx(bus, rel=1e-9)
    (row,) = collective_use(Trace(spans, world_size=8, end=1.0))
    assert row[:4] == (collective, 8, 1, GIGABYTE)
    assert row[4:] == pytest.approx((0.01, 100e9, bus), rel=1e-9)


def test_collectives_of_one_name_and_size_are_added_up() -> None:
    spans = (
        rows("all_reduce") + rows("all_reduce", start=1.0, number=1) + rows("broadcast", start=2.0, size=2, number=2)
    )
    found = collective_use(Trace(spans, world_size=8, end=3.0))
    assert [row[:4] for row in found] == [("all_reduce", 8, 2, 2 * GIGABYTE), ("broadcast", 2, 1, GIGABYTE)]
    assert found[0].seconds == pytest.approx(0.02)
    assert found[0].busbw == pytest.approx(175e9)


def test_what_has_no_bandwidth_has_none() -> None:
    spans = rows("barrier", nbytes=0)
    rate(spans)
    assert "algbw" not in spans[1][6]
    assert collective_use(Trace(spans, world_size=8, end=1.0)) == [
        CollectiveUse("barrier", 8, 1, 0, pytest.approx(0.01), None, None)
    ]
    spans = rows("gossip")
    rate(spans)
    assert "busbw" not in spans[1][6] and spans[1][6]["algbw"] == pytest.approx(100e9)


def test_rows_are_rated_when_they_are_read_and_keep_their_order() -> None:
    spans = rows("all_reduce")[::-1]
    waiting = rated(spans)
    assert "busbw" not in spans[0][6]
    assert list(waiting) == spans
    assert spans[0][6]["busbw"] == pytest.approx(175e9)


def collectives(rank: int, world_size: int, n: int) -> None:
    x, all_x = np.zeros(n), np.zeros(n * world_size)
    if rank == 1:
        sd.sleep(0.25)  # a straggler is not held against the network
    dist.all_reduce(all_x)
    dist.all_gather_into_tensor(all_x, x)
    dist.reduce_scatter_tensor(x, all_x)
    dist.all_to_all([np.empty(n) for _ in range(world_size)], [x] * world_size)
    dist.all_to_all_single(all_x.copy(), all_x)
    dist.broadcast(all_x, src=2)
    dist.all_reduce(all_x, async_op=True).wait()


@pytest.fixture
def ideal() -> sd.Cluster:
    """Four devices behind a switch without latency."""
    node = sd.clusters.get("dgx-a100").nodes[0]
    return sd.Cluster("ideal", (sd.Node(node.accelerators[:4], fabric=sd.Link(25e9)),))


@pytest.mark.parametrize("network", ["messages", "steps", "formula", "coflow"])
def test_rings_on_an_ideal_network_have_the_bus_bandwidth_of_a_link(ideal: sd.Cluster, network: str) -> None:
    run = sd.run(collectives, 1 << 16, world_size=4, cluster=ideal, network=network)
    found = {row.collective: row for row in run.collectives()}
    nbytes = 4 * 8 << 16
    for name, row in found.items():
        assert row.nbytes == nbytes * row.num_calls, name
        if name != "broadcast":
            assert row.busbw == pytest.approx(25e9, rel=1e-9), name
    assert found["all_reduce"].num_calls == 2
    assert found["broadcast"].busbw == pytest.approx(25e9 / 2, rel=1e-9)  # two levels of a tree, one after the other
    told = [span.details for span in run.trace if span.kind == "communication" and span.name == "all_reduce #6"]
    assert len(told) == 8 and all(details["busbw"] == pytest.approx(25e9) for details in told if details)


@pytest.mark.process
def test_real_processes_measure_it() -> None:
    run = sd.run(collectives, 1 << 12, world_size=4, backend="process")
    found = {row.collective: row for row in run.collectives()}
    assert found["all_reduce"].nbytes == 2 * 4 * 8 << 12
    assert all(row.busbw is not None and row.busbw > 0 for row in found.values())


def test_the_report_has_a_line_for_each() -> None:
    run = sd.run(collectives, 1 << 16, world_size=4, cluster="dgx-a100")
    lines = run.report().splitlines()
    head = next(index for index, line in enumerate(lines) if line.startswith("collectives "))
    assert lines[head].split() == ["collectives", "calls", "ranks", "bytes", "time", "algbw", "busbw"]
    assert lines[head + 1].split()[:5] == ["all_reduce", "2", "4", "4.19", "MB"]
    assert len([line for line in lines if line.split()[:1] == ["broadcast"]]) == 1


@pytest.mark.parametrize("ask", [lambda run: run.collectives()])
def test_a_run_without_a_trace_cannot_tell(ask: Callable[[sd.Run], object]) -> None:
    with pytest.raises(sd.SimdistError, match="there is no table of collectives: the run kept no trace"):
        ask(sd.run(collectives, 4, world_size=4, traced=False))
