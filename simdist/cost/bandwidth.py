"""Which bandwidth did a collective reach?

Two numbers, as nccl-tests prints them (NVIDIA/nccl-tests doc/PERFORMANCE.md): the *algorithm bandwidth* S / t says how fast
the user's buffer was served; the *bus bandwidth* multiplies it by a factor of the collective, so that it can be compared with
the speed of a link whatever the number of ranks. The factor belongs to the collective and not to the algorithm: after a
tree all-reduce the bus bandwidth is no link's rate.

The factors of gather and scatter are those of nccl-tests' src/gather.cu and src/scatter.cu.

S is the whole buffer: for all-gather the gathered output, for reduce-scatter the full input. Taking one rank's shard instead is
wrong by a factor p.
"""

from __future__ import annotations

from collections.abc import Callable

from simdist.errors import UnknownNameError

__all__ = ["BUS_FACTORS", "SPELLINGS", "algorithm_bandwidth", "bandwidths", "bus_bandwidth"]

BUS_FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda p: 2 * (p - 1) / p,
    "all_reduce_in_network": lambda p: (p - 1) / (p + 1),
    "reduce_scatter": lambda p: (p - 1) / p,
    "all_gather": lambda p: (p - 1) / p,
    "all_to_all": lambda p: (p - 1) / p,
    "gather": lambda p: (p - 1) / p,
    "scatter": lambda p: (p - 1) / p,
    "broadcast": lambda p: 1.0,
    "reduce": lambda p: 1.0,
}
"""Collective -> factor from algorithm to bus bandwidth on p ranks."""

SPELLINGS: dict[str, str] = {
    "all_gather_into_tensor": "all_gather",
    "reduce_scatter_tensor": "reduce_scatter",
    "all_to_all_single": "all_to_all",
}
"""torch's other names for some of them."""


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


def bandwidths(collective: str, num_ranks: int, nbytes: float, seconds: float) -> dict[str, float]:
    """Both bandwidths of a collective as far as they are defined, for a trace.

    Args:
        collective: torch's name.
        num_ranks: p.
        nbytes: the whole buffer.
        seconds: measured or simulated time.

    Returns:
        ``algbw`` unless nothing was moved or it took no time, and ``busbw`` if nccl-tests defines a factor; bytes per second.
    """
    if not nbytes or seconds <= 0:
        return {}
    found = {"algbw": algorithm_bandwidth(nbytes, seconds)}
    kind = SPELLINGS.get(collective, collective)
    if kind in BUS_FACTORS:
        found["busbw"] = bus_bandwidth(kind, num_ranks, nbytes, seconds)
    return found
