"""When is a data-parallel step equal to the serial one?

When every *row* counts the same. The mean over all rows is a sum over ranks divided by the count of all rows; the
mean of the ranks' means is something else as soon as one rank has fewer rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist
from simdist.nn import functional

__all__ = ["naive", "reference"]


def reference(model: Any, optimizer: Any, x: Any, y: Any, rank: int, world_size: int) -> None:
    """Sum of the own rows' losses over the count of all rows; gradients are added up in one message for all parameters."""
    count = np.array([float(len(y))])
    dist.all_reduce(count)
    optimizer.zero_grad()
    (functional.cross_entropy(model(x), y, reduction="sum") / count[0]).backward()
    gradients = [parameter.grad.data for parameter in model.parameters()]
    bucket = np.concatenate([gradient.reshape(-1) for gradient in gradients])
    dist.all_reduce(bucket)
    start = 0
    for gradient in gradients:
        gradient[...] = bucket[start : start + gradient.size].reshape(gradient.shape)
        start += gradient.size
    optimizer.step()


def naive(model: Any, optimizer: Any, x: Any, y: Any, rank: int, world_size: int) -> None:
    """The average of the ranks' means: rows of a small share count too much."""
    optimizer.zero_grad()
    functional.cross_entropy(model(x), y).backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
    optimizer.step()
