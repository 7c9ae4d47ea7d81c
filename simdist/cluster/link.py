"""What is a cable?

A link carries bytes at ``bandwidth`` after ``latency`` (the alpha-beta model: Hockney 1994, Parallel Computing 20). A
message of n bytes over a route costs the sum of the latencies and n over the smallest bandwidth: cut-through, nothing is
stored on the way. Full duplex means that each direction has the whole bandwidth for itself; on a half-duplex link both
directions share one.

A path through a switch crosses two links. Published latencies are from device to device, so a description gives each of the
two halves.
"""

from __future__ import annotations

from dataclasses import dataclass

from simdist.cluster import field

__all__ = ["DUPLEX", "Link"]

DUPLEX = ("full", "half")


@dataclass(frozen=True)
class Link:
    """One kind of cable.

    Args:
        bandwidth: bytes per second in one direction.
        latency: seconds from the first bit in to the first bit out.
        duplex: ``"full"`` or ``"half"`` (both directions share ``bandwidth``).
        name: for people.

    Raises:
        ClusterError: a bandwidth or latency that no cable has.
    """

    bandwidth: float
    latency: float = 0.0
    duplex: str = "full"
    name: str = "link"

    def __post_init__(self) -> None:
        thing = f"link {self.name!r}"
        hint = "It is bytes per second in one direction: 300 * units.GB, units.gbit(400)."
        object.__setattr__(self, "bandwidth", field.positive(thing, "bandwidth", self.bandwidth, hint))
        object.__setattr__(
            self, "latency", field.not_negative(thing, "latency", self.latency, "It is in seconds: 2 * units.us.")
        )
        field.choice(thing, "duplex", self.duplex, DUPLEX)

    def times(self, number: int) -> Link:
        """``number`` of these cables side by side, seen as one with the bandwidth of all."""
        return Link(self.bandwidth * number, self.latency, self.duplex, self.name)
