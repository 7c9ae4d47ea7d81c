"""Which algorithm performs a collective, and what does it know of the machines?

Unless the run says otherwise, each collective has the one algorithm of ``algorithm.DEFAULT``: rings for large buffers, trees
from a root. ``sd.run(algorithms={"all_reduce": "hierarchical_all_reduce"})`` names another for all groups of the run, and
``sd.run(algorithms="auto")`` lets the chooser decide for each group and size: it estimates every algorithm that has an outline
(``comm.estimate``) and takes the least; of equal ones the first of the table. NCCL does the same with a table of measured
latencies and bandwidths for each of its algorithms (NVIDIA/nccl src/graph/tuning.cc).

The chooser adds the layout: who shares a node, and into how many pieces a pipelined algorithm cuts the buffer, again by the
least estimate.

The choice depends on the cluster's description, the group and the size, and on nothing else: every backend that is given the
same cluster chooses alike, so the order of additions is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simdist.cluster import Cluster
from simdist.errors import UnknownNameError

from .algorithm import ALGORITHMS, DEFAULT, Algorithm
from .estimate import Estimate, estimate
from .layout import FLAT, Layout
from .outline import OUTLINES

__all__ = ["AUTO", "MOST_PIECES", "Chooser", "Overrides", "named"]

AUTO = "auto"
"""Says that the chooser decides."""

MOST_PIECES = 64
"""A pipelined algorithm cuts a buffer into no more pieces than this."""

Overrides = Mapping[str, Algorithm | None]
"""Collective -> the algorithm that the run asked for; None: the best by estimate."""


def named(algorithms: str | Mapping[str, str | Algorithm]) -> dict[str, Algorithm | None]:
    """The algorithms that a person named.

    Args:
        algorithms: collective -> the name of an algorithm, the algorithm itself, or ``"auto"``. ``"auto"`` alone stands
            for all collectives.

    Raises:
        UnknownNameError: no such collective, or no algorithm of that name performs it.
    """
    if isinstance(algorithms, str):
        if algorithms != AUTO:
            raise UnknownNameError("choice of algorithms", algorithms, [AUTO])
        algorithms = dict.fromkeys(DEFAULT, AUTO)
    found: dict[str, Algorithm | None] = {}
    for collective, given in algorithms.items():
        if collective not in DEFAULT:
            raise UnknownNameError("collective", collective, DEFAULT)
        if given == AUTO:
            found[collective] = None
            continue
        known = {name: row for name, row in ALGORITHMS.items() if row.collective == collective}
        row = given if isinstance(given, Algorithm) else known.get(given)
        if row is None or row.collective != collective:
            raise UnknownNameError(f"algorithm for {collective}", given, [*known, AUTO])
        found[collective] = row
    return found


@dataclass(frozen=True)
class Chooser:
    """Chooses for one run. State: the estimates made so far.

    Attributes:
        cluster: the machines; global ranks are its devices. None: nothing is known of them.
        overrides: what the run asked for.
    """

    cluster: Cluster | None
    overrides: Overrides = field(default_factory=dict)
    _kept: dict[tuple[Any, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def choose(self, collective: str, ranks: tuple[int, ...], nbytes: int) -> tuple[Algorithm, Layout]:
        """The algorithm of a collective and the layout that it is told.

        Args:
            collective: ``"all_reduce"`` ...
            ranks: the group's global ranks, in order of their group rank.
            nbytes: the whole buffer, as ``cost.collectives`` counts it.
        """
        row = self.overrides.get(collective, DEFAULT[collective])
        if self.cluster is None:
            return row or DEFAULT[collective], FLAT
        if row is not None:
            return row, self._layout(self.cluster, row, ranks, nbytes)
        key = (collective, ranks, nbytes)
        if key not in self._kept:
            self._kept[key] = self._best(self.cluster, collective, ranks, nbytes)
        found: tuple[Algorithm, Layout] = self._kept[key]
        return found

    def seconds(self, row: Algorithm, ranks: tuple[int, ...], nbytes: int) -> float:
        """The estimate for one algorithm with its best number of pieces.

        Args:
            row: an algorithm with an outline.
            ranks: the group's global ranks.
            nbytes: the whole buffer.
        """
        assert self.cluster is not None
        layout = self._layout(self.cluster, row, ranks, nbytes)
        return self._estimate(self.cluster, row, ranks).seconds(nbytes, layout.pieces)

    def _best(self, cluster: Cluster, collective: str, ranks: tuple[int, ...], nbytes: int) -> tuple[Algorithm, Layout]:
        rows = [row for name, row in ALGORITHMS.items() if row.collective == collective and name in OUTLINES]
        best = min(rows, key=lambda row: self.seconds(row, ranks, nbytes))
        return best, self._layout(cluster, best, ranks, nbytes)

    def _layout(self, cluster: Cluster, row: Algorithm, ranks: tuple[int, ...], nbytes: int) -> Layout:
        nodes = _nodes(cluster, ranks) if row.by_node else ()
        if row.pieces(len(ranks), FLAT) == row.pieces(len(ranks), Layout(pieces=2)) or row.name not in OUTLINES:
            return Layout(nodes)
        return Layout(nodes, self._estimate(cluster, row, ranks).best_pieces(nbytes, MOST_PIECES) if nbytes else 1)

    def _estimate(self, cluster: Cluster, row: Algorithm, ranks: tuple[int, ...]) -> Estimate:
        key = (row.name, ranks)
        if key not in self._kept:
            self._kept[key] = estimate(row.name, cluster, ranks, Layout(_nodes(cluster, ranks) if row.by_node else ()))
        found: Estimate = self._kept[key]
        return found


def _nodes(cluster: Cluster, ranks: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The group ranks of each node."""
    nodes: dict[int, list[int]] = {}
    for position, rank in enumerate(ranks):
        nodes.setdefault(cluster.node_of(rank), []).append(position)
    return tuple(tuple(node) for node in nodes.values())
