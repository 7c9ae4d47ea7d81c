"""How long does one primitive take on one device?

The roofline (Williams, Waterman, Patterson 2009, CACM 52(4)): arithmetic and memory traffic overlap completely, so the
slower of the two decides::

    seconds = max(flops / (peak(dtype) * efficiency(m, n, k)), nbytes / memory_bandwidth)

The efficiency applies to matrix products only. The fixed cost of starting a primitive is not in it: it is
``accelerator.launch_overhead``, billed apart, because a device that is fed early enough hides it.
"""

from __future__ import annotations

from typing import Any

from simdist.cluster.accelerator import Accelerator

__all__ = ["is_compute_bound", "ridge", "seconds"]


def seconds(
    accelerator: Accelerator, flops: float, nbytes: float, dtype: Any, matmul: tuple[int, int, int] | None = None
) -> float:
    """Seconds that a primitive keeps the device busy, launch overhead apart.

    Args:
        accelerator: the device.
        flops: floating point operations.
        nbytes: bytes read and written.
        dtype: a name or numpy dtype; it selects the peak rate.
        matmul: (m, n, k) of a matrix product, or None.
    """
    # called for every primitive of a simulation: two cached look-ups and no more
    rate = accelerator.peak(dtype)
    if matmul is not None:
        rate *= accelerator.matmul_efficiency(*matmul)
    compute = flops / rate
    memory = nbytes / accelerator.memory_bandwidth
    return compute if compute > memory else memory


def ridge(accelerator: Accelerator, dtype: Any) -> float:
    """Flops per byte at which the roofline bends: below it memory decides, above it arithmetic."""
    return accelerator.peak(dtype) / accelerator.memory_bandwidth


def is_compute_bound(
    accelerator: Accelerator, flops: float, nbytes: float, dtype: Any, matmul: tuple[int, int, int] | None = None
) -> bool:
    """Whether arithmetic, not memory, decides the time."""
    return seconds(accelerator, flops, nbytes, dtype, matmul) > nbytes / accelerator.memory_bandwidth
