"""Which algorithm performs a collective, and what does it know of the machines?

Unless the run says otherwise, each collective has the one algorithm of ``algorithm.DEFAULT``: rings for large buffers, trees
from a root. ``sd.run(algorithms={"all_reduce": "hierarchical_all_reduce"})`` names another for all groups of the run. The
chooser adds the layout: who shares a node, and into how many pieces a pipelined algorithm cuts the buffer.

The number of pieces. A chain of p ranks takes (p - 2 + m)(alpha + n beta / m) with m pieces; its minimum over m is at
sqrt((p - 2) n beta / alpha). Two trees of depth d take (d - 2 + 2 m)(alpha + n beta / (2 m)), the least at
sqrt((d - 2) n beta / (4 alpha)). Alpha and beta are those of the slowest hop of the group's ring.

The choice depends on the cluster's description, the group and the size, and on nothing else: every backend that is given the
same cluster chooses alike, so the order of additions is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt

from simdist.cluster import Cluster
from simdist.errors import UnknownNameError

from .algorithm import ALGORITHMS, DEFAULT, Algorithm
from .double_tree import in_two_trees
from .layout import FLAT, Layout
from .pipelined_chain import as_laid_out

__all__ = ["MOST_PIECES", "Chooser", "named"]

MOST_PIECES = 64
"""A pipelined algorithm cuts a buffer into no more pieces than this."""


def named(algorithms: Mapping[str, str | Algorithm]) -> dict[str, Algorithm]:
    """The algorithms that a person named.

    Args:
        algorithms: collective -> the name of an algorithm, or the algorithm itself.

    Raises:
        UnknownNameError: no such collective, or no algorithm of that name performs it.
    """
    found = {}
    for collective, given in algorithms.items():
        if collective not in DEFAULT:
            raise UnknownNameError("collective", collective, DEFAULT)
        known = {name: row for name, row in ALGORITHMS.items() if row.collective == collective}
        row = given if isinstance(given, Algorithm) else known.get(given)
        if row is None or row.collective != collective:
            raise UnknownNameError(f"algorithm for {collective}", given, known)
        found[collective] = row
    return found


@dataclass(frozen=True)
class Chooser:
    """Chooses for one run.

    Attributes:
        cluster: the machines; global ranks are its devices. None: nothing is known of them.
        overrides: collective -> the algorithm that the run asked for.
    """

    cluster: Cluster | None
    overrides: Mapping[str, Algorithm] = field(default_factory=dict)

    def choose(self, collective: str, ranks: tuple[int, ...], nbytes: int) -> tuple[Algorithm, Layout]:
        """The algorithm of a collective and the layout that it is told.

        Args:
            collective: ``"all_reduce"`` ...
            ranks: the group's global ranks, in order of their group rank.
            nbytes: the whole buffer.
        """
        row = self.overrides.get(collective) or DEFAULT[collective]
        if self.cluster is None:
            return row, FLAT
        pieces = 1
        if row.pieces is as_laid_out:
            pieces = _pieces(self.cluster, ranks, nbytes, len(ranks) - 2)
        elif row.pieces is in_two_trees:
            pieces = _pieces(self.cluster, ranks, nbytes, ((len(ranks) - 1).bit_length() - 1) / 2)
        return row, Layout(_nodes(self.cluster, ranks) if row.by_node else (), pieces)


def _nodes(cluster: Cluster, ranks: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The group ranks of each node."""
    nodes: dict[int, list[int]] = {}
    for position, rank in enumerate(ranks):
        nodes.setdefault(cluster.node_of(rank), []).append(position)
    return tuple(tuple(node) for node in nodes.values())


def _pieces(cluster: Cluster, ranks: tuple[int, ...], nbytes: int, fill: float) -> int:
    """The best number of pieces, about sqrt(fill n beta / alpha)."""
    if len(ranks) < 3 or not nbytes:
        return 1
    hops = [cluster.route(a, b) for a, b in zip(ranks, ranks[1:] + ranks[:1], strict=True)]
    beta, alpha = 1 / min(hop.bandwidth for hop in hops), max(hop.latency for hop in hops)
    if not alpha:
        return MOST_PIECES
    return max(1, min(MOST_PIECES, round(sqrt(fill * nbytes * beta / alpha))))
