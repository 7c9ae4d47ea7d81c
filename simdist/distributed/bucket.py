"""Which gradients travel together?

DistributedDataParallel reduces gradients in buckets: one all-reduce of a megabyte is cheaper than a thousand of a
kilobyte, and several buckets can travel while the backward pass still computes. The rules are torch's (SEMANTICS of
Reducer, PyTorch 2.13):

* Parameters are put into the open bucket of their dtype, in a given order; a bucket is closed as soon as it holds at
  least its cap (so it may overshoot, and no parameter is ever split).
* The first bucket of each dtype has its own, smaller cap (1 MiB), if the user did not choose ``bucket_cap_mb``: the
  first reduction starts early. All others have 25 MiB or the chosen cap.
* Buckets are reduced in the order of their index. Before the first iteration nothing is known about the order in
  which gradients come, so there is one bucket per dtype, in the order of registration, the last dtype first. After it
  buckets are rebuilt in the order in which the gradients came; a bucket stands where its last gradient came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from simdist.units import MiB

__all__ = ["DEFAULT_CAP_MB", "FIRST_CAP_BYTES", "BucketSpec", "assign", "caps", "first_buckets", "rebuilt_buckets"]

FIRST_CAP_BYTES = 1 * MiB
DEFAULT_CAP_MB = 25.0


class BucketSpec(NamedTuple):
    """What a bucket holds.

    Attributes:
        indices: parameters (positions in the module's list), in the order of their place in the bucket.
        dtype: of all of them.
    """

    indices: tuple[int, ...]
    dtype: np.dtype[Any]


def caps(bucket_cap_mb: float | None) -> tuple[int, ...]:
    """The caps of the first, second, ... bucket in bytes; the last one holds for all further buckets."""
    if bucket_cap_mb is None:
        return (FIRST_CAP_BYTES, int(DEFAULT_CAP_MB * MiB))
    return (int(bucket_cap_mb * MiB),)


def assign(
    order: Sequence[int], nbytes: Sequence[int], dtypes: Sequence[np.dtype[Any]], limits: Sequence[int]
) -> list[BucketSpec]:
    """Fill buckets.

    Args:
        order: parameter indices in the order in which they are put into buckets.
        nbytes: size of each parameter's gradient, by parameter index.
        dtypes: dtype of each, by parameter index.
        limits: caps of the first, second, ... bucket of each dtype, bytes.

    Returns:
        The buckets, each at the place of its last parameter in ``order``.
    """
    open_: dict[np.dtype[Any], list[int]] = {}
    sizes: dict[np.dtype[Any], int] = {}
    closed: dict[np.dtype[Any], int] = {}
    found: list[tuple[int, BucketSpec]] = []
    place = {index: position for position, index in enumerate(order)}
    for index in order:
        dtype = dtypes[index]
        open_.setdefault(dtype, []).append(index)
        sizes[dtype] = sizes.get(dtype, 0) + nbytes[index]
        limit = limits[min(closed.get(dtype, 0), len(limits) - 1)]
        if sizes[dtype] >= limit:
            found.append((place[index], BucketSpec(tuple(open_.pop(dtype)), dtype)))
            closed[dtype] = closed.get(dtype, 0) + 1
            sizes[dtype] = 0
    found += [(place[indices[-1]], BucketSpec(tuple(indices), dtype)) for dtype, indices in open_.items()]
    return [bucket for _, bucket in sorted(found, key=lambda item: item[0])]


def first_buckets(nbytes: Sequence[int], dtypes: Sequence[np.dtype[Any]]) -> list[BucketSpec]:
    """The buckets of the first iteration: one per dtype, in reverse order of the dtypes' first parameters."""
    order = range(len(nbytes))
    unlimited = sum(nbytes) + 1
    by_first = sorted(assign(order, nbytes, dtypes, (unlimited,)), key=lambda bucket: bucket.indices[0])
    return by_first[::-1]


def rebuilt_buckets(
    arrival: Sequence[int], nbytes: Sequence[int], dtypes: Sequence[np.dtype[Any]], bucket_cap_mb: float | None
) -> list[BucketSpec]:
    """The buckets from the second iteration on, from the order in which gradients arrived in the first."""
    return assign(arrival, nbytes, dtypes, caps(bucket_cap_mb))
