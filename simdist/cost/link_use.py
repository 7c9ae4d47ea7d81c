"""How busy was each link?

From the messages of a run (``trace.Flow``) and the routes of its cluster: what every directed link carried, for how long it
carried anything, and what share of its capacity that is. A message occupies the links of its route from its start until its
last byte has left, one latency of the route before its arrival.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simdist.cluster import Cluster
from simdist.trace.span import Flow

__all__ = ["LinkUse", "link_use"]


class LinkUse(NamedTuple):
    """One direction of one cable.

    Attributes:
        name: as in the topology: ``"node0/device1 > node0/fabric"``.
        nbytes: bytes carried.
        busy: seconds in which it carried at least one message.
        utilisation: bytes over (bandwidth times the whole time): 1 is full all the time.
    """

    name: str
    nbytes: int
    busy: float
    utilisation: float


def link_use(cluster: Cluster, flows: Iterable[Flow], time: float) -> list[LinkUse]:
    """The use of every directed link of ``cluster``, by number; the links that nothing crossed too.

    Args:
        cluster: the machines on which the messages were sent.
        flows: the messages, ``src`` and ``dst`` as device numbers.
        time: seconds of the whole run.
    """
    nbytes = [0] * len(cluster.links)
    intervals: list[list[tuple[float, float]]] = [[] for _ in cluster.links]
    for flow in flows:
        if not flow.nbytes or flow.src == flow.dst:
            continue
        route = cluster.route(flow.src, flow.dst)
        interval = flow.start, flow.end - route.latency
        for link in route.links:
            nbytes[link] += flow.nbytes
            intervals[link].append(interval)
    return [
        LinkUse(link.name, amount, _covered(times), amount / (link.bandwidth * time) if time else 0.0)
        for link, amount, times in zip(cluster.links, nbytes, intervals, strict=True)
    ]


def _covered(intervals: list[tuple[float, float]]) -> float:
    """Seconds that lie in at least one interval."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(intervals):
        if end > until:
            total += end - max(start, until)
            until = end
    return total
