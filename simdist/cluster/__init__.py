"""Which machines are there? Frozen descriptions, topology with routes, presets with the source of each number."""

from __future__ import annotations

from simdist.cluster.accelerator import Accelerator
from simdist.cluster.catalogue import Catalogue, clusters, resolve
from simdist.cluster.cluster import Cluster
from simdist.cluster.link import Link
from simdist.cluster.node import Node
from simdist.cluster.topology import DirectedLink, Edge, Route, Topology

__all__ = [
    "Accelerator", "Catalogue", "Cluster", "DirectedLink", "Edge", "Link", "Node", "Route", "Topology", "clusters", "resolve",
]  # fmt: skip
