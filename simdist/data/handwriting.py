"""What do the handwritten digits look like?

1,797 images of 8 x 8 pixels from 0 to 16, ten classes, written by 13 people: the test set of the UCI Optical Recognition of
Handwritten Digits (E. Alpaydin, C. Kaynak 1998; CC BY 4.0; see digits.LICENSE.txt), in scikit-learn's order. 36 images of each
digit, drawn once, are kept for testing; the other 1,437 are there to train on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from simdist.data import batch
from simdist.tensor import Tensor, from_numpy

__all__ = ["digits", "digits_split"]

Array = npt.NDArray[Any]

_TEST_OF_EACH = 36


@cache
def _load() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    with resources.files("simdist.data").joinpath("digits.npz").open("rb") as file, np.load(file) as arrays:
        images, labels = arrays["images"], arrays["labels"].astype(np.int64)
    for array in (images, labels):
        array.flags.writeable = False  # shared by everybody who asks
    return images, labels


@cache
def _split(train: bool) -> npt.NDArray[np.intp]:
    """Row numbers of one side of the split, ascending."""
    labels = _load()[1]
    drawn = batch.order(len(labels), seed=0, epoch=0)
    test = np.concatenate([drawn[labels[drawn] == digit][:_TEST_OF_EACH] for digit in range(10)])
    return np.setdiff1d(drawn, test) if train else np.sort(test)


def digits_split(dtype: npt.DTypeLike = np.float32) -> tuple[Array, Array, Array, Array]:
    """All images at once, as numpy arrays.

    Args:
        dtype: of the images.

    Returns:
        x_train (1437, 64) in 0..1, y_train (1437,) int64, x_test (360, 64), y_test (360,).
    """
    images, labels = _load()
    scaled = images.astype(dtype) / np.dtype(dtype).type(16)
    return scaled[_split(True)], labels[_split(True)], scaled[_split(False)], labels[_split(False)]


def digits(
    batch_size: int,
    rank: int = 0,
    world_size: int = 1,
    steps: int | None = None,
    epoch: int = 0,
    seed: int = 0,
    train: bool = True,
    dtype: npt.DTypeLike = np.float32,
) -> Iterator[tuple[Tensor, Tensor]]:
    """This rank's share of shuffled batches of handwritten digits.

    Args:
        batch_size: rows of the *global* batch; each rank gets its contiguous share, shares differ by at most one row.
        rank: who asks.
        world_size: how many ranks share a batch.
        steps: number of batches, going on into the following epochs; None for one epoch (its whole batches).
        epoch: the first epoch; each epoch has its own shuffle.
        seed: selects the shuffles, the same on every rank.
        train: the 1,437 training images, or the 360 test images.
        dtype: of the images, float32 or float64.

    Yields:
        x: Tensor (rows, 64) in 0..1, and y: Tensor (rows,) of int64.

    Raises:
        DataError: an argument that cannot be right; it is raised here, before the first step.
    """
    images, labels = _load()
    chosen = _split(train)
    mine_x, mine_y = images[chosen], labels[chosen]
    rows = batch.indices("digits", len(mine_y), batch_size, rank, world_size, steps, epoch, seed)
    one = np.dtype(dtype).type(16)
    return ((from_numpy(mine_x[row].astype(dtype) / one), from_numpy(mine_y[row])) for row in rows)
