"""What links carried, worked out by hand, and the same bytes at every level of the network."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.cluster import presets
from simdist.cost.link_use import link_use
from simdist.trace.span import Flow


def test_bytes_busy_seconds_and_share_of_the_capacity() -> None:
    cluster = presets.get("pc-10gbe", num_devices=3)
    latency = cluster.route(0, 1).latency
    flows = [
        Flow(0, 1, 0.0, 0.0, 2.0 + latency, 1000, "a"),
        Flow(0, 2, 0.0, 1.0, 3.0 + latency, 500, "b"),  # overlaps by a second
        Flow(2, 1, 0.0, 5.0, 6.0 + latency, 10, "c"),
        Flow(1, 0, 0.0, 5.0, 6.0, 0, "empty"),
    ]
    found = {use.name: use for use in link_use(cluster, flows, 10.0)}
    sent, got = found["node0/device0 > switch"], found["switch > node1/device0"]
    assert (sent.nbytes, got.nbytes) == (1500, 1010)
    assert sent.busy == pytest.approx(3.0)
    assert got.busy == pytest.approx(3.0)
    assert sent.utilisation == pytest.approx(1500 / (1.25e9 * 10.0))
    assert found["node1/device0 > switch"][1:] == (0, 0.0, 0.0)
    assert len(found) == len(cluster.links)


def test_no_time_no_utilisation() -> None:
    assert {use.utilisation for use in link_use(presets.get("laptop"), [], 0.0)} == {0.0}


def program(rank: int, world_size: int) -> None:
    """One all-reduce and one message."""
    dist.all_reduce(np.zeros(8000))
    if rank < 2:
        (dist.send if rank else dist.recv)(np.zeros(10), 1 - rank)


@pytest.mark.parametrize("network", ["formula", "coflow", "steps", "messages"])
def test_every_level_knows_what_each_link_carried(network: str) -> None:
    run = sd.run(program, world_size=8, cluster="dgx-a100", network=network)
    found = {use.name: use for use in run.links()}
    ring = 2 * 7 * 8000
    assert found["node0/device3 > node0/fabric"].nbytes == ring
    assert found["node0/device1 > node0/fabric"].nbytes == ring + 80
    assert found["node0/fabric > node0/device0"].nbytes == ring + 80
    assert all(0 < use.utilisation <= 1 for use in found.values() if use.nbytes)
    assert all(use.busy <= run.time * (1 + 1e-12) for use in found.values())


def test_a_run_without_its_cluster_says_so() -> None:
    run = sd.run(program, world_size=2)
    with pytest.raises(ValueError, match="knows only the name of its cluster, 'localhost': run it again"):
        dataclasses.replace(run, machines=None).links()
