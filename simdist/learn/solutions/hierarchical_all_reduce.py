"""How do all network cards of a machine work at once?

Each for a part of its own. First the ranks of a machine add up among themselves, so that each has a part of the machine's sum;
then the ranks with the same part, one in each machine, do an all-reduce of it; then the parts are gathered inside. Source: Cho,
Finkler, Serrano, Kung and Hunter, "BlueConnect: Decomposing all-reduce for deep learning on heterogeneous network hierarchy",
MLSys 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import simdist.distributed as dist
from simdist.learn.solutions import ring_all_reduce

__all__ = ["naive", "reference"]


def _chunks(x: Any, number: int) -> list[Any]:
    cuts = [i * len(x) // number for i in range(number + 1)]
    return [x[cuts[i] : cuts[i + 1]] for i in range(number)]


def _pass_on(sent: Any, received: Any, ranks: Sequence[int], me: int) -> None:
    """Send to the next of ``ranks`` while receiving from the one before."""
    incoming = dist.irecv(received, ranks[me - 1])
    outgoing = dist.isend(sent, ranks[(me + 1) % len(ranks)])
    outgoing.wait()
    incoming.wait()


def _reduce_scatter(x: Any, ranks: Sequence[int], me: int) -> None:
    """The first half of a ring: member ``me`` ends with the complete chunk me + 1."""
    p, chunks = len(ranks), _chunks(x, len(ranks))
    for step in range(p - 1):
        target = chunks[(me - step - 1) % p]
        arrived = np.empty_like(target)
        _pass_on(chunks[(me - step) % p], arrived, ranks, me)
        target += arrived


def _all_gather(x: Any, ranks: Sequence[int], me: int) -> None:
    """The second half of a ring: complete chunks go round."""
    p, chunks = len(ranks), _chunks(x, len(ranks))
    for step in range(p - 1):
        _pass_on(chunks[(me + 1 - step) % p], chunks[(me - step) % p], ranks, me)


def reference(x: Any, rank: int, world_size: int, per_node: int) -> None:
    """Add up inside, all-reduce the own part across the machines, gather inside."""
    node, place = divmod(rank, per_node)
    inside = range(node * per_node, (node + 1) * per_node)
    across = range(place, world_size, per_node)
    _reduce_scatter(x, inside, place)
    part = _chunks(x, per_node)[(place + 1) % per_node]
    _reduce_scatter(part, across, node)
    _all_gather(part, across, node)
    _all_gather(x, inside, place)


def naive(x: Any, rank: int, world_size: int, per_node: int) -> None:
    """One ring of all ranks: everything that leaves a machine goes through the card of its last rank."""
    ring_all_reduce.reference(x, rank, world_size)
