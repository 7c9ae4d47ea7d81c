"""Which machines do the exercises run on?

A network that one can compute with by hand: every rank has one full-duplex port into a switch, so a message of n
bytes takes alpha + n / B (Hockney 1994), and a rank that sends two messages at once sends them one after the other.
The accelerator is slow and simple: no launch overhead, one rate for everything. The numbers are round and belong to
no product.
"""

from __future__ import annotations

from simdist.cluster import Accelerator, Cluster, Link, Node
from simdist.units import GB, format_bytes, format_time, us

__all__ = ["ALPHA", "BANDWIDTH", "FLOPS", "about", "classroom", "message_time"]

ALPHA = 5 * us
"""Seconds that a message takes however small it is."""

BANDWIDTH = 25 * GB
"""Bytes per second of a port, in each direction."""

FLOPS = 10e9
"""Floating point operations per second of the accelerator, for every dtype."""


def classroom(num_ranks: int, scale: int = 1) -> Cluster:
    """The classroom's cluster.

    Args:
        num_ranks: how many accelerators it has.
        scale: build it with 1/scale of the network's bandwidth. A message of n / scale bytes then takes exactly as long as one
            of n bytes on the real classroom, so a large buffer can be studied with a small one.
    """
    # a path crosses two cables, into the switch and out of it: each has half of the latency
    port = Link(BANDWIDTH / scale, ALPHA / 2, name="port")
    device = Accelerator("classroom", {"float32": FLOPS, "float64": FLOPS}, 16 * GB, 100 * GB)
    return Cluster("classroom", (Node((device,) * num_ranks, fabric=port, name="classroom"),))


def message_time(nbytes: float) -> float:
    """Seconds that one message of ``nbytes`` takes on an idle classroom network: alpha + n / B."""
    return ALPHA + nbytes / BANDWIDTH


def about() -> str:
    """The numbers that a learner needs, as a text."""
    return f"α = {format_time(ALPHA)}, B = {format_bytes(BANDWIDTH)}/s"
