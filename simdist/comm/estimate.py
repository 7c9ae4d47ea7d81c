"""How long would an algorithm take on these machines?

Its phases (``comm.outline``) and the links between the pairs of each. A round lasts as long as its slowest message, and
messages of a round share the links that they have in common::

    seconds = sum over phases of  max over pairs of  latencies * alpha + rounds * share * n * beta

On equal links this is the closed form of ``cost.closed_forms``; where links differ it is a little pessimistic, since rounds wait
for each other here and need not in truth. The pairs are looked at once; a size then costs a few multiplications.
"""

from __future__ import annotations

from typing import NamedTuple

from simdist.cluster import Cluster
from simdist.cluster.sharing import shared

from .layout import Layout
from .outline import Phase, outline

__all__ = ["Estimate", "estimate"]


class _Timed(NamedTuple):
    """A phase, and the (alpha, beta) of its pairs, each once."""

    phase: Phase
    links: tuple[tuple[float, float], ...]


class Estimate:
    """The time of one algorithm in one group.

    Args:
        phases: each with its links.
    """

    def __init__(self, phases: list[_Timed]) -> None:
        self._phases = phases

    @property
    def is_pipelined(self) -> bool:
        """Whether it depends on the number of pieces."""
        return any(phase.per_piece for phase, _ in self._phases)

    def seconds(self, nbytes: float, pieces: int = 1) -> float:
        """The estimate.

        Args:
            nbytes: the whole buffer.
            pieces: into how many a pipeline cuts it (of each of two trees).
        """
        total = 0.0
        for (_, rounds, share, latencies, per_piece), links in self._phases:
            count = rounds
            if per_piece:
                count += per_piece * pieces
                share /= pieces
            waits = count if latencies is None else latencies
            load = count * share * nbytes
            total += max([waits * alpha + load * beta for alpha, beta in links], default=0.0)
        return total

    def best_pieces(self, nbytes: float, most: int) -> int:
        """The number of pieces, 1 to ``most``, with the least time; the smallest of several."""
        if not self.is_pipelined:
            return 1
        return min(range(1, most + 1), key=lambda pieces: self.seconds(nbytes, pieces))


def estimate(name: str, cluster: Cluster, ranks: tuple[int, ...], layout: Layout) -> Estimate:
    """Look at the links that an algorithm would use.

    Args:
        name: of an algorithm with an outline.
        cluster: the machines; global ranks are its devices.
        ranks: the group's global ranks, in order of their group rank.
        layout: who shares a node.
    """
    phases = []
    for phase in outline(name, len(ranks), layout):
        bandwidths, latencies = shared(cluster, [(ranks[src], ranks[dst]) for src, dst in phase.pairs()])
        links = dict.fromkeys(zip(latencies, [1 / bandwidth for bandwidth in bandwidths], strict=True))
        phases.append(_Timed(phase, tuple(links)))
    return Estimate(phases)
