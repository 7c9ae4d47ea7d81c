"""Does the picture of a cluster show its links, and how busy a run made them?"""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import simdist as sd
import simdist.distributed as dist
from simdist.cluster import Edge, fabric
from simdist.errors import ClusterError, TraceError
from simdist.plot.topology import MAX_DEVICES, MAX_NODES, VERTICES, topology

PC = sd.clusters.get("pc-10gbe").nodes[0]
LEAVES = fabric.leaf_spine(PC, 2, 2, ratio=2)
UNUSED = "#c8c8c8"


def across(rank: int, world_size: int) -> None:
    x = np.ones(1 << 16)
    half = world_size // 2
    if rank < half:
        dist.send(x, rank + half)
    else:
        dist.recv(x, rank - half)


def colors(ax: Axes) -> list[str]:
    (lines,) = [item for item in ax.collections if isinstance(item, LineCollection)]
    return [to_hex(color) for color in lines.get_colors()]  # type: ignore[attr-defined]


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def test_a_line_for_each_directed_link_and_a_mark_for_each_device() -> None:
    ax = topology(LEAVES)
    assert len(colors(ax)) == len(LEAVES.links)
    assert [text.get_text() for text in ax.texts if text.get_text().isdigit()] == ["0", "1", "2", "3"]
    assert legend(ax) == ["device", "switch", "1.25 GB/s, 16 µs"]
    assert len(ax.figure.axes) == 1


def test_without_a_run_each_kind_of_cable_has_a_colour() -> None:
    ax = topology("dgx1-v100")
    assert [word for word in legend(ax) if "/s" in word] == ["25 GB/s, 600 ns", "50 GB/s, 600 ns", "15.5 GB/s, 500 ns"]
    assert len(set(colors(ax))) == 3


def test_with_a_run_the_colour_is_the_utilisation() -> None:
    run = sd.run(across, world_size=4, cluster=LEAVES)
    use = {row.name: row.utilisation for row in run.links()}
    ax = topology(LEAVES, run)
    used = [color for color in colors(ax) if color != UNUSED]
    assert len(used) == sum(share > 0 for share in use.values()) == 6
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "utilisation: bytes / (bandwidth × time of the run)"
    assert bar.get_ylim() == pytest.approx((0, max(use.values())))
    assert use["leaf0 > spine"] == max(use.values()) == pytest.approx(0.93, abs=0.01)
    assert (
        len(set(used)) == 2
    )  # the uplink, as fast as one port, is full; the ports of its two senders are half as busy
    assert "carried nothing" in legend(ax)
    title = ax.get_title(loc="left").replace("\n", " · ")
    assert title.startswith("leaf-spine 2:1: 4 devices · across, 4 ranks, network messages, ")
    assert "busiest: " in title and "of its capacity" in title


def test_given_axes_are_drawn_on() -> None:
    ax = Figure().subplots()
    assert topology("dgx-a100", ax=ax) is ax


def test_a_large_cluster_has_one_vertex_for_a_node() -> None:
    cluster = sd.clusters.get("dgx-a100", num_devices=64)
    assert cluster.num_devices > MAX_DEVICES
    ax = topology(cluster)
    assert len(colors(ax)) == 16
    assert "each node is one vertex" in ax.get_title(loc="left")
    assert "8 × 25 GB/s, 1.35 µs" in legend(ax)


def test_more_nodes_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match=rf"'dgx-a100' has 128 nodes, and at most {MAX_NODES} can be told apart"):
        topology(sd.clusters.get("dgx-a100", num_devices=1024))


def test_runs_that_cannot_be_drawn() -> None:
    run = sd.run(across, world_size=4, cluster=LEAVES)
    with pytest.raises(ValueError, match=r"the run was on 'leaf-spine 2:1' with 4 devices, not on 'dgx-a100' with 8"):
        topology("dgx-a100", run)
    with pytest.raises(TraceError, match="there is no use of links to draw: the run kept no trace"):
        topology(LEAVES, sd.run(across, world_size=4, cluster=LEAVES, traced=False))
    with pytest.raises(TraceError, match=r"the run was on real processes \(process\)"):
        topology("localhost", sd.run(across, world_size=2, backend="process"))
    with pytest.raises(ClusterError, match="world_size=4, but cluster 'one' has 1 device"):
        topology(sd.Cluster("one", (PC,)), run)


def test_a_name_grows_to_the_run_s_size() -> None:
    run = sd.run(across, world_size=16, cluster="dgx-a100")
    assert "16 devices" in topology("dgx-a100", run).get_title(loc="left")


def test_a_run_without_messages_has_grey_links_only() -> None:
    run = sd.run(lambda rank, world_size: sd.sleep(1.0), world_size=4, cluster=LEAVES)
    assert set(colors(topology(LEAVES, run))) == {UNUSED}


@pytest.mark.parametrize("name", sd.clusters.names())
def test_every_preset_is_drawn(name: str) -> None:
    ax = topology(name)
    ax.figure.canvas.draw()
    assert set(legend(ax)) & {look.label for look in VERTICES.values()}


def test_one_device_and_switches_of_any_name() -> None:
    one = topology(sd.Cluster("one", (PC,)))
    assert legend(one) == ["device"] and colors(one) == []
    cable = sd.Link(1e9, 1e-6)
    edges = (Edge("node0/nic0", "rack/a", cable), Edge("node1/nic0", "rack/a", cable))
    ax = topology(sd.Cluster("odd", (PC, PC), edges))
    assert "rack/a" in [text.get_text() for text in ax.texts]
