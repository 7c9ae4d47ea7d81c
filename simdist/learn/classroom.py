"""Which machines do the exercises run on?

A network that one can compute with by hand: every rank has one full-duplex port into a switch, so a message of n
bytes takes alpha + n / B (Hockney 1994), and a rank that sends two messages at once sends them one after the other.
The accelerator is slow and simple: no launch overhead, one rate for everything. The numbers are round and belong to
no product.
"""

from __future__ import annotations

import math

from simdist.cluster import Accelerator, Cluster, Link, Node
from simdist.units import GB, format_bytes, format_time, us

__all__ = [
    "ALPHA", "BANDWIDTH", "FABRIC", "FLOPS", "NEAR", "about", "all_reduce_bound", "classroom", "least_all_reduce", "message_time",
    "two_levels",
]  # fmt: skip

ALPHA = 5 * us
"""Seconds that a message takes however small it is."""

BANDWIDTH = 25 * GB
"""Bytes per second of a port, in each direction."""

FABRIC = 250 * GB
"""Bytes per second inside a machine, where there are several: ten times as many as between them."""

NEAR = 1 * us
"""Seconds that a message inside such a machine takes however small it is."""

FLOPS = 10e9
"""Floating point operations per second of the accelerator, for every dtype."""


def classroom(num_ranks: int, scale: float = 1, alpha: float = ALPHA, bandwidth: float = BANDWIDTH) -> Cluster:
    """The classroom's cluster.

    Args:
        num_ranks: how many accelerators it has.
        scale: build it with 1/scale of the network's bandwidth. A message of n / scale bytes then takes exactly as long as one
            of n bytes on the real classroom, so a large buffer can be studied with a small one.
        alpha: seconds of a message without bytes.
        bandwidth: of a port, bytes per second.
    """
    port = _port(bandwidth / scale, alpha)
    return Cluster("classroom", (Node((_device(),) * num_ranks, fabric=port, name="classroom"),))


def two_levels(num_nodes: int, per_node: int, scale: float = 1) -> Cluster:
    """Machines of several accelerators: inside ``NEAR`` and ``FABRIC``, between them ``ALPHA`` and a card each of ``BANDWIDTH``.

    Args:
        num_nodes: how many machines.
        per_node: accelerators of each; ranks are numbered machine by machine.
        scale: as in ``classroom``.
    """
    inside, card = _port(FABRIC / scale, NEAR), _port(BANDWIDTH / scale, ALPHA)
    node = Node((_device(),) * per_node, fabric=inside, num_nics=per_node, nic=card, name="machine")
    return Cluster("classroom of machines", (node,) * num_nodes)


def _port(bandwidth: float, alpha: float) -> Link:
    # a path crosses two cables, into the switch and out of it: each has half of the latency
    return Link(bandwidth, alpha / 2, name="port")


def _device() -> Accelerator:
    return Accelerator("classroom", {"float32": FLOPS, "float64": FLOPS}, 16 * GB, 100 * GB)


def message_time(nbytes: float) -> float:
    """Seconds that one message of ``nbytes`` takes on an idle classroom network: alpha + n / B."""
    return ALPHA + nbytes / BANDWIDTH


def all_reduce_bound(num_ranks: int, nbytes: float) -> float:
    """What textbooks give as the lower bound of an all-reduce, max(2 (p-1) n / (p B), α log2 p), in seconds.

    It holds where a rank is busy with one message for all of its α + n/B. In the classroom α is the way, not the sender's
    work, and ``least_all_reduce`` is what nobody beats.
    """
    p = num_ranks
    return max(2 * (p - 1) / p * nbytes / BANDWIDTH, ALPHA * math.log2(p))


def least_all_reduce(num_ranks: int, nbytes: float) -> float:
    """Seconds that no all-reduce beats: some rank sends 2 (p-1) n / p bytes, and its last message has the way before it."""
    return ALPHA + 2 * (num_ranks - 1) / num_ranks * nbytes / BANDWIDTH if num_ranks > 1 else 0.0


def about() -> str:
    """The numbers that a learner needs, as a text."""
    return f"α = {format_time(ALPHA)}, B = {format_bytes(BANDWIDTH)}/s"
