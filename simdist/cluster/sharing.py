"""What does each of several messages get if all are under way at once?

Messages that cross the same link share it equally, and each is as fast as the least of what it gets on its links. Max-min
fairness gives more to those that are not held up elsewhere (``sim.fairness``); where all messages of a round are alike, as in
most algorithms, it is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from simdist.cluster.cluster import Cluster

__all__ = ["shared"]


def shared(cluster: Cluster, pairs: Iterable[tuple[int, int]]) -> tuple[list[float], list[float]]:
    """Bandwidths (bytes per second) and latencies (seconds) of messages between pairs of devices, all at once.

    Args:
        cluster: the machines.
        pairs: (source, destination) of each message.

    Raises:
        ClusterError: there is no such device, or no way.
    """
    routes = [cluster.route(src, dst) for src, dst in pairs]
    crossing = Counter([link for route in routes for link in route.links])
    links = cluster.links
    bandwidths = [
        min([links[k].bandwidth / crossing[k] for k in route.links], default=float("inf")) for route in routes
    ]
    return bandwidths, [route.latency for route in routes]
