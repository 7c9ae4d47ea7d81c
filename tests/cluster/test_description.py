"""Does a file say what the cluster is, and is every mistake in it named?"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdist.cluster import Accelerator, Cluster, Edge, Link, Node, description
from simdist.errors import ClusterError
from simdist.units import us

TEXT = """
name = "two-boxes"

[accelerators.A]
peak_flops = { float32 = "156 TFLOP/s", float16 = "312 TFLOP/s" }
memory = "80 GB"
memory_bandwidth = "2 TB/s"
launch_overhead = "5 us"
efficiency = [[128, 0.1], [4096, 0.8]]

[accelerators.B]
peak_flops = { float32 = 1e12 }
memory = 1e9
memory_bandwidth = 1e9

[links.nvlink]
bandwidth = "300 GB/s"
latency = "0.3 us"

[links.ethernet]
bandwidth = "100 Gbit/s"
latency = "2 us"
duplex = "half"

[[nodes]]
count = 2
name = "big"
accelerator = "A"
num_accelerators = 2
fabric = "nvlink"
num_nics = 2
nic = "ethernet"

[[nodes]]
accelerators = ["A", "B"]
fabric = "nvlink"
layout = "wires"
wires = [[0, 1, 3]]
host = "nvlink"
num_nics = 1
nic = "ethernet"
"""


def test_a_description_is_read() -> None:
    cluster = description.load(TEXT)
    assert cluster.name == "two-boxes"
    assert [node.name for node in cluster.nodes] == ["big", "big", "node"]
    assert [cluster.device(rank).name for rank in range(6)] == ["A", "A", "A", "A", "A", "B"]
    assert cluster.device(0).peak("float16") == 312e12
    assert cluster.device(0).efficiency == ((128.0, 0.1), (4096.0, 0.8))
    assert cluster.device(0).launch_overhead == 5 * us  # the same bits as in a program
    assert cluster.nodes[2].wires == ((0, 1, 3),)
    assert cluster.nodes[0].nic == Link(12.5e9, 2e-6, "half", "ethernet")


def test_what_is_written_reads_back_equal() -> None:
    cluster = description.load(TEXT)
    assert description.load(description.dump(cluster)) == cluster


def test_units_are_written_for_people() -> None:
    text = description.dump(description.load(TEXT))
    for line in (
        'bandwidth = "300 GB/s"',
        'memory = "80 GB"',
        'float16 = "312 TFLOP/s"',
        'launch_overhead = "5 us"',
        "count = 2",
    ):
        assert line in text


def test_edges_are_written_and_read() -> None:
    a, cable = Accelerator("a", {"float32": 1.0}, 1.0, 1.0, sources=(("memory", "a guess"),)), Link(5.0)
    node = Node((a,), num_nics=1, nic=cable)
    edges = (Edge("node0/nic0", "leaf", cable), Edge("leaf", "node1/nic0", Link(7.0)))
    cluster = Cluster("c", (node, node), edges)
    again = description.load(description.dump(cluster))
    assert again == cluster
    assert again.route(0, 1).bandwidth == 5.0
    assert again.device(0).sources == (("memory", "a guess"),)


def test_links_that_share_a_name_stay_apart() -> None:
    a = Accelerator("a", {"float32": 1.0}, 1.0, 1.0)
    nodes = tuple(
        Node((a,), num_nics=1, nic=Link(rate, name=name))
        for rate, name in ((1.0, "x"), (2.0, "x-2"), (3.0, "x"), (4.0, "x"))
    )
    assert description.load(description.dump(Cluster("c", nodes))) == Cluster("c", nodes)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("name =", "nmae =", "cluster description: unknown key 'nmae'. Did you mean 'name'"),
        ('name = "two-boxes"', "", "cluster description: the key 'name' is missing."),
        ('memory = "80 GB"', "", "accelerator 'A': the key 'memory' is missing."),
        ('"80 GB"', '"-80 GB"', "accelerator 'A': memory must be a finite number above 0, got -80000000000.0."),
        ('"80 GB"', '"80 GB/s"', "accelerator 'A': memory: '80 GB/s' has the unit 'GB/s', which is none of"),
        ('"300 GB/s"', "-1", "link 'nvlink': bandwidth must be a finite number above 0, got -1.0."),
        ('"300 GB/s"', "nan", "link 'nvlink': bandwidth must be a finite number above 0, got nan."),
        ('bandwidth = "300', 'bandwith = "300', "link 'nvlink': unknown key 'bandwith'. Did you mean 'bandwidth'"),
        (
            'accelerator = "A"',
            'accelerator = "AA"',
            "node 'big': accelerators names 'AA', which is not described. Did you mean",
        ),
        ('["A", "B"]', '["A", "C"]', "node 1: accelerators names 'C', which is not described. Known: A, B."),
        ('["A", "B"]', "[]", "node 'node': accelerators is empty."),
        ('["A", "B"]', '"A"', "node 1: accelerators must be a list of names without num_accelerators, got 'A'."),
        ('accelerator = "A"', "", "node 'big': give either accelerators = [...] or accelerator = ..."),
        (
            "num_accelerators = 2",
            "num_accelerators = 0",
            "node 'big': num_accelerators must be an integer of at least 1, got 0.",
        ),
        (
            'nic = "ethernet"\n\n[[',
            'nic = "ethernt"\n\n[[',
            "node 'big': nic names 'ethernt', which is not described. Did you mean",
        ),
        ("count = 2", "count = -2", "node 'big': count must be an integer of at least 1, got -2."),
        ("[[0, 1, 3]]", "[0, 1, 3]", "node 1: wires must be a list of [i, j, number of links], got [0, 1, 3]."),
        ("[[0, 1, 3]]", "[[0, 9, 3]]", "node 'node': wires has (0, 9, 3); it must join two different accelerators"),
        (
            "peak_flops = { float32 = 1e12 }",
            "peak_flops = 5",
            "accelerator 'B': peak_flops must be a table of dtype = rate, got 5.",
        ),
        (
            "launch_overhead",
            "sources = 5\nlaunch_overhead",
            "accelerator 'A': sources must be a table of key = text, got 5.",
        ),
        ("[[nodes]]\naccel", "[[nodes]]\ncolour = 1\naccel", "node 1: unknown key 'colour'."),
        ('name = "two-boxes"', 'name = "two-boxes', "cluster description is not TOML: "),
    ],
)
def test_a_mistake_is_named_with_its_key_and_value(old: str, new: str, text: str) -> None:
    assert old in TEXT
    with pytest.raises(ClusterError) as error:
        description.load(TEXT.replace(old, new, 1))
    assert str(error.value).startswith(text)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("links = 5", "cluster description: links must be tables [links.NAME], got 5."),
        ("links = { a = 5 }", "cluster description: links must be tables [links.NAME], got {'a': 5}."),
        ("nodes = 5", "cluster description: nodes must be tables [[nodes]], got 5."),
        ("edges = [{ between = 1, link = 2 }]", "edge 0: between must be two names of vertices, got 1."),
        (
            'edges = [{ between = ["a", "b"], link = "x" }]',
            "edge 0: link names 'x', which is not described. Known: none.",
        ),
        ('edges = [{ between = ["a", "b"] }]', "edge 0: the key 'link' is missing."),
        ('edges = [{ from = "a" }]', "edge 0: unknown key 'from'."),
    ],
)
def test_tables_of_the_wrong_kind_are_named(line: str, text: str) -> None:
    with pytest.raises(ClusterError) as error:
        description.load(f'name = "c"\n{line}\n')
    assert str(error.value).startswith(text)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes("name = 'Größe'".encode("latin-1"))
    with pytest.raises(ClusterError, match=r"mine\.toml' is not UTF-8 text: byte 10 is 0xf6"):
        description.load(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClusterError) as error:
        description.load("mine.toml")
    assert (
        str(error.value) == "there is no cluster file 'mine.toml'. Give the path of a .toml file, or a preset's name."
    )
    broken = tmp_path / "broken.toml"
    broken.write_text("name = ")
    with pytest.raises(ClusterError, match=r"cluster file '.*broken.toml' is not TOML"):
        description.load(broken)


LINKS = st.builds(
    Link,
    st.floats(1e-3, 1e15),
    st.floats(0, 1),
    st.sampled_from(["full", "half"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8),
)
PEAKS = st.dictionaries(st.sampled_from(["float16", "float64", "int8"]), st.floats(1, 1e18)).map(
    lambda d: d | {"float32": 1e12}
)


@st.composite
def any_cluster(draw: st.DrawFn) -> Cluster:
    """Nodes of mixed accelerators with whatever numbers."""
    devices = [
        Accelerator(name, draw(PEAKS), draw(st.floats(1, 1e15)), draw(st.floats(1, 1e15)), draw(st.floats(0, 1)))
        for name in "abc"
    ]
    nodes = []
    for _ in range(draw(st.integers(1, 3))):
        mine = tuple(draw(st.lists(st.sampled_from(devices), min_size=1, max_size=4)))
        nics = draw(st.integers(1, len(mine)))
        nodes.append(
            Node(
                mine,
                fabric=draw(LINKS),
                layout=draw(st.sampled_from(["switch", "mesh"])),
                num_nics=nics,
                nic=draw(LINKS),
            )
        )
    return Cluster("any", tuple(nodes))


@settings(max_examples=40)
@given(any_cluster())
def test_any_cluster_reads_back_equal(cluster: Cluster) -> None:
    assert description.load(description.dump(cluster)) == cluster
