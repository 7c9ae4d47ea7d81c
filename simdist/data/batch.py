"""Which rows does this rank get in this step?

``batch_size`` is the *global* batch, as in a run on one device: each rank gets its contiguous share of it, and shares differ by
at most one row (the first ``batch_size % world_size`` ranks have one more). Only whole batches are given: what an epoch's end
leaves over comes in another epoch, at another place of another shuffle.

Shuffles have an address: the order of an epoch is a function of (seed, epoch) and of nothing else, so every rank computes the
same one without a message, and no global state is read or changed. The order is that of raw Philox numbers, whose stream numpy
promises never to change (NEP 19), unlike ``Generator.permutation``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from simdist.errors import SimdistError

__all__ = ["DataError", "indices", "order", "share"]


class DataError(SimdistError, ValueError):
    """A batch that cannot be given: the text names the argument and its value."""


def share(batch_size: int, rank: int, world_size: int) -> slice:
    """The contiguous part of a batch that belongs to ``rank``."""
    small, more = divmod(batch_size, world_size)
    start = rank * small + min(rank, more)
    return slice(start, start + small + (rank < more))


def order(count: int, seed: int, epoch: int) -> npt.NDArray[np.intp]:
    """The shuffled order of ``count`` rows in one epoch: (count,)."""
    numbers = np.random.Philox(key=np.array([seed, epoch], dtype=np.uint64)).random_raw(count)
    return np.argsort(numbers, kind="stable")


def indices(
    what: str, count: int, batch_size: int, rank: int, world_size: int, steps: int | None, epoch: int, seed: int
) -> Iterator[npt.NDArray[np.intp]]:
    """Row numbers of each step's share, in order; the arguments are checked at once, not at the first step.

    Args:
        what: name of the function, for errors.
        count: rows of the data set.
        batch_size: rows of the global batch.
        rank: who asks.
        world_size: how many ranks share the batch.
        steps: number of batches, into the following epochs if need be; None for the whole batches of one epoch.
        epoch: the first epoch.
        seed: selects the shuffles.

    Raises:
        DataError: an argument that cannot be right; the text says which and what to try.
    """
    _check(what, batch_size=batch_size, world_size=world_size, least=1)
    _check(what, rank=rank, epoch=epoch, seed=seed, least=0)
    if steps is not None:
        _check(what, steps=steps, least=0)
    if rank >= world_size:
        raise DataError(
            f"{what}: rank={rank} is out of range: with world_size={world_size} ranks are 0..{world_size - 1}."
        )
    if batch_size < world_size:
        raise DataError(
            f"{what}: batch_size={batch_size} is smaller than world_size={world_size}: some rank would get no row. batch_size is "
            f"the global batch, shared by all ranks; make it at least {world_size}."
        )
    if batch_size > count:
        raise DataError(f"{what}: batch_size={batch_size}, but there are {count} rows. Make it at most {count}.")
    return _shares(count, batch_size, share(batch_size, rank, world_size), steps, epoch, seed)


def _shares(
    count: int, batch_size: int, part: slice, steps: int | None, epoch: int, seed: int
) -> Iterator[npt.NDArray[np.intp]]:
    left = count // batch_size if steps is None else steps
    while left > 0:
        shuffled = order(count, seed, epoch)
        for batch in range(min(left, count // batch_size)):
            yield shuffled[batch * batch_size :][part]
        left -= count // batch_size
        epoch += 1


def _check(what: str, least: int, **values: Any) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
            raise DataError(f"{what}: {name} must be an integer of at least {least}, got {value!r}.")
