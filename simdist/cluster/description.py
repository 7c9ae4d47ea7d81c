"""How is a cluster written in a file?

TOML, in four tables::

    name = "two-boxes"

    [accelerators.A100]
    peak_flops = { float32 = "156 TFLOP/s", float16 = "312 TFLOP/s" }
    memory = "80 GB"
    memory_bandwidth = "2 TB/s"
    launch_overhead = "5 us"              # optional, 0
    efficiency = [[128, 0.1], [4096, 0.8]]  # optional, 1 everywhere

    [links.nvlink]
    bandwidth = "300 GB/s"
    latency = "0.3 us"                    # optional, 0
    duplex = "full"                       # optional

    [[nodes]]
    count = 2                             # optional, 1
    accelerators = ["A100", "A100"]       # or: accelerator = "A100", num_accelerators = 2
    fabric = "nvlink"
    layout = "switch"                     # or "mesh", or "wires" with wires = [[0, 1, 2]]
    num_nics = 2
    nic = "ethernet"

    [[edges]]                             # optional: without edges one switch joins the nodes
    between = ["node0/nic0", "leaf0"]
    link = "ethernet"

A number is SI or a text with a unit (``quantity``). Every key is known or refused. Reading what was written gives an equal
cluster.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from simdist.cluster import field, quantity
from simdist.cluster.accelerator import Accelerator
from simdist.cluster.cluster import Cluster
from simdist.cluster.link import Link
from simdist.cluster.node import Node
from simdist.cluster.topology import Edge
from simdist.errors import ClusterError

__all__ = ["dump", "load"]

_TOP = ("name", "accelerators", "links", "nodes", "edges")
_ACCELERATOR = ("peak_flops", "memory", "memory_bandwidth", "launch_overhead", "efficiency", "sources")
_LINK = ("bandwidth", "latency", "duplex", "name")
_NODE = (
    "name",
    "count",
    "accelerator",
    "num_accelerators",
    "accelerators",
    "fabric",
    "layout",
    "wires",
    "host",
    "num_nics",
    "nic",
)
_EDGE = ("between", "link")


def load(source: str | Path) -> Cluster:
    """Read a cluster from a file, or from a text that contains a line break or an equals sign.

    Raises:
        ClusterError: no such file, no TOML, or a description that cannot be true.
    """
    text, where = _text(source)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ClusterError(f"{where} is not TOML: {error}.") from None
    field.known_keys(where, tables, _TOP)
    accelerators = {name: _accelerator(name, row) for name, row in _tables(where, tables, "accelerators").items()}
    links = {name: _link(name, row) for name, row in _tables(where, tables, "links").items()}
    nodes: list[Node] = []
    for index, row in enumerate(_rows(where, tables, "nodes")):
        nodes += _nodes(index, row, accelerators, links)
    edges = None
    if "edges" in tables:
        edges = tuple(_edge(index, row, links) for index, row in enumerate(_rows(where, tables, "edges")))
    return Cluster(str(_required(where, tables, "name")), tuple(nodes), edges)


def _text(source: str | Path) -> tuple[str, str]:
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return source, "cluster description"
    path = Path(source)
    if not path.is_file():
        raise ClusterError(
            f"there is no cluster file {str(path)!r}. Give the path of a .toml file, or a preset's name."
        )
    try:
        return path.read_text(encoding="utf-8"), f"cluster file {str(path)!r}"
    except UnicodeDecodeError as error:
        raise ClusterError(
            f"cluster file {str(path)!r} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}. Save it "
            "in that encoding (or is it another file?)."
        ) from None


def _tables(where: str, tables: Mapping[str, Any], key: str) -> dict[str, Mapping[str, Any]]:
    value = tables.get(key, {})
    if not isinstance(value, Mapping) or not all(isinstance(row, Mapping) for row in value.values()):
        raise ClusterError(f"{where}: {key} must be tables [{key}.NAME], got {value!r}.")
    return dict(value)


def _rows(where: str, tables: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = tables.get(key, [])
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        raise ClusterError(f"{where}: {key} must be tables [[{key}]], got {value!r}.")
    return value


def _required(thing: str, row: Mapping[str, Any], key: str) -> Any:
    if key not in row:
        raise ClusterError(f"{thing}: the key {key!r} is missing.")
    return row[key]


def _accelerator(name: str, row: Mapping[str, Any]) -> Accelerator:
    thing = f"accelerator {name!r}"
    field.known_keys(thing, row, _ACCELERATOR)
    peaks = _required(thing, row, "peak_flops")
    if not isinstance(peaks, Mapping):
        raise ClusterError(f"{thing}: peak_flops must be a table of dtype = rate, got {peaks!r}.")
    sources = row.get("sources", {})
    if not isinstance(sources, Mapping):
        raise ClusterError(f"{thing}: sources must be a table of key = text, got {sources!r}.")
    return Accelerator(
        name,
        {key: quantity.parse(value, "flops", f"{thing}: peak_flops.{key}") for key, value in peaks.items()},
        quantity.parse(_required(thing, row, "memory"), "bytes", f"{thing}: memory"),
        quantity.parse(_required(thing, row, "memory_bandwidth"), "rate", f"{thing}: memory_bandwidth"),
        quantity.parse(row.get("launch_overhead", 0.0), "time", f"{thing}: launch_overhead"),
        tuple(row.get("efficiency", ())),
        tuple(sources.items()),
    )


def _link(key: str, row: Mapping[str, Any]) -> Link:
    thing = f"link {key!r}"
    field.known_keys(thing, row, _LINK)
    return Link(
        quantity.parse(_required(thing, row, "bandwidth"), "rate", f"{thing}: bandwidth"),
        quantity.parse(row.get("latency", 0.0), "time", f"{thing}: latency"),
        row.get("duplex", "full"),
        str(row.get("name", key)),
    )


def _named(thing: str, key: str, name: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(name, str) and name in known:
        return known[name]
    raise ClusterError(
        f"{thing}: {key} names {name!r}, which is not described.{field.hint(name, known)} Known: {', '.join(known) or 'none'}."
    )


def _nodes(
    index: int, row: Mapping[str, Any], accelerators: Mapping[str, Accelerator], links: Mapping[str, Link]
) -> list[Node]:
    thing = f"node {row.get('name', index)!r}"
    field.known_keys(thing, row, _NODE)
    if ("accelerator" in row) == ("accelerators" in row):
        raise ClusterError(
            f"{thing}: give either accelerators = [...] or accelerator = ... with num_accelerators = ..."
        )
    listed = row.get("accelerators")
    if listed is None:
        listed = [row["accelerator"]] * field.count(thing, "num_accelerators", row.get("num_accelerators", 1), 1)
    elif not isinstance(listed, list) or "num_accelerators" in row:
        raise ClusterError(f"{thing}: accelerators must be a list of names without num_accelerators, got {listed!r}.")
    cable = {key: _named(thing, key, row[key], links) if key in row else None for key in ("fabric", "host", "nic")}
    wires = row.get("wires", [])
    if not isinstance(wires, list) or not all(isinstance(wire, list) for wire in wires):
        raise ClusterError(f"{thing}: wires must be a list of [i, j, number of links], got {wires!r}.")
    node = Node(
        tuple(_named(thing, "accelerators", name, accelerators) for name in listed),
        layout=row.get("layout", "switch"),
        wires=tuple(tuple(wire) for wire in wires),
        num_nics=field.count(thing, "num_nics", row.get("num_nics", 0)),
        name=str(row.get("name", "node")),
        **cable,
    )
    return [node] * field.count(thing, "count", row.get("count", 1), 1)


def _edge(index: int, row: Mapping[str, Any], links: Mapping[str, Link]) -> Edge:
    thing = f"edge {index}"
    field.known_keys(thing, row, _EDGE)
    between = _required(thing, row, "between")
    if not isinstance(between, list) or len(between) != 2 or not all(isinstance(name, str) for name in between):
        raise ClusterError(f"{thing}: between must be two names of vertices, got {between!r}.")
    return Edge(between[0], between[1], _named(thing, "link", _required(thing, row, "link"), links))


# ---- writing


def dump(cluster: Cluster) -> str:
    """The cluster as TOML; ``load`` of it is equal to ``cluster``."""
    import tomli_w

    links = _link_keys(cluster)
    tables: dict[str, Any] = {
        "name": cluster.name,
        "accelerators": {
            device.name: _accelerator_row(device)
            for device in dict.fromkeys(device for node in _distinct(cluster) for device in node.accelerators)
        },
        "links": {key: _link_row(link) for link, key in links.items()},
        "nodes": _node_rows(cluster, links),
    }
    if cluster.edges is not None:
        tables["edges"] = [{"between": [edge.a, edge.b], "link": links[edge.link]} for edge in cluster.edges]
    return tomli_w.dumps(tables)


def _distinct(cluster: Cluster) -> list[Node]:
    return list({id(node): node for node in cluster.nodes}.values())


def _link_keys(cluster: Cluster) -> dict[Link, str]:
    """A key for each different link: its name, with a number where two share a name."""
    used: dict[Link, str] = {}
    found = [link for node in _distinct(cluster) for link in (node.fabric, node.host, node.nic)]
    for link in [*found, *(edge.link for edge in cluster.edges or ())]:
        if link is not None and link not in used:
            keys = (f"{link.name}-{number}" if number > 1 else link.name for number in count(1))
            used[link] = next(key for key in keys if key not in used.values())
    return used


def _accelerator_row(device: Accelerator) -> dict[str, Any]:
    row: dict[str, Any] = {
        "peak_flops": {dtype: quantity.write(rate, "flops") for dtype, rate in dict(device.peak_flops).items()},
        "memory": quantity.write(device.memory, "bytes"),
        "memory_bandwidth": quantity.write(device.memory_bandwidth, "rate"),
        "launch_overhead": quantity.write(device.launch_overhead, "time"),
    }
    if device.efficiency:
        row["efficiency"] = [list(point) for point in device.efficiency]
    if device.sources:
        row["sources"] = dict(device.sources)
    return row


def _link_row(link: Link) -> dict[str, Any]:
    return {
        "bandwidth": quantity.write(link.bandwidth, "rate"),
        "latency": quantity.write(link.latency, "time"),
        "duplex": link.duplex,
        "name": link.name,
    }


def _node_rows(cluster: Cluster, links: Mapping[Link, str]) -> list[dict[str, Any]]:
    """One row for each stretch of equal nodes."""
    rows: list[dict[str, Any]] = []
    before: Node | None = None
    for node in cluster.nodes:
        if before is not None and (node is before or node == before):
            rows[-1]["count"] += 1
            continue
        before = node
        row: dict[str, Any] = {"name": node.name, "count": 1}
        if len(set(node.accelerators)) == 1:
            row |= {"accelerator": node.accelerators[0].name, "num_accelerators": len(node.accelerators)}
        else:
            row["accelerators"] = [device.name for device in node.accelerators]
        row["layout"] = node.layout
        row |= {key: links[cable] for key in ("fabric", "host", "nic") if (cable := getattr(node, key)) is not None}
        row["num_nics"] = node.num_nics
        if node.wires:
            row["wires"] = [list(wire) for wire in node.wires]
        rows.append(row)
    return rows
