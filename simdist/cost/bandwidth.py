"""Which bandwidth did a collective reach?

Two numbers, as nccl-tests prints them (NVIDIA/nccl-tests doc/PERFORMANCE.md): the *algorithm bandwidth* S / t says how fast
the user's buffer was served; the *bus bandwidth* multiplies it by a factor of the collective, so that it can be compared with
the speed of a link whatever the number of ranks. The factor belongs to the collective and not to the algorithm: after a
tree all-reduce the bus bandwidth is no link's rate.

S is the whole buffer: for all-gather the gathered output, for reduce-scatter the full input. Taking one rank's shard instead is
wrong by a factor p.
"""

from __future__ import annotations

from collections.abc import Callable

from simdist.errors import UnknownNameError

__all__ = ["BUS_FACTORS", "algorithm_bandwidth", "bus_bandwidth"]

BUS_FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda p: 2 * (p - 1) / p,
    "all_reduce_in_network": lambda p: (p - 1) / (p + 1),
    "reduce_scatter": lambda p: (p - 1) / p,
    "all_gather": lambda p: (p - 1) / p,
    "all_to_all": lambda p: (p - 1) / p,
    "broadcast": lambda p: 1.0,
    "reduce": lambda p: 1.0,
}
"""Collective -> factor from algorithm to bus bandwidth on p ranks."""


def algorithm_bandwidth(nbytes: float, seconds: float) -> float:
    """Bytes per second at which the user's buffer was served; infinite if it took no time."""
    return nbytes / seconds if seconds > 0 else float("inf")


def bus_bandwidth(collective: str, num_ranks: int, nbytes: float, seconds: float) -> float:
    """Bytes per second to compare with a link.

    Args:
        collective: a key of ``BUS_FACTORS``.
        num_ranks: p; on one rank an all-reduce moves nothing and its bus bandwidth is 0.
        nbytes: the whole buffer.
        seconds: measured or simulated time.

    Raises:
        UnknownNameError: nccl-tests defines no factor for it.
    """
    if collective not in BUS_FACTORS:
        raise UnknownNameError("bus bandwidth factor", collective, BUS_FACTORS)
    factor = BUS_FACTORS[collective](num_ranks)
    return factor * algorithm_bandwidth(nbytes, seconds) if factor else 0.0
