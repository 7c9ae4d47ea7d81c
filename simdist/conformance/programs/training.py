"""Does training give the same weights, bit for bit?"""

from __future__ import annotations

from typing import Any

import numpy as np

import simdist.distributed as dist
from simdist import nn, optim
from simdist.data import digits
from simdist.distributed.nn import functional as crossing
from simdist.nn.parallel import DistributedDataParallel
from simdist.tensor import Tensor

from .program import Program, numbers

__all__ = ["PROGRAMS"]


def _data_parallel(rank: int, world_size: int) -> list[Any]:
    model = DistributedDataParallel(nn.MLP([64, 32, 10]))
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for x, y in digits(batch_size=24, rank=rank, world_size=world_size, steps=4):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, *(p.data for p in model.parameters())]


def _gradients(rank: int, world_size: int) -> list[Any]:
    """Gradients cross collectives."""
    x = Tensor(numbers(rank, 2 * world_size), requires_grad=True)
    total = crossing.all_reduce(x)
    mine = crossing.reduce_scatter(np.zeros(2), [total[2 * i : 2 * i + 2] for i in range(world_size)])
    loss = Tensor(np.zeros(()))
    for part in crossing.all_gather(mine):
        loss = loss + (part * part).sum() * (rank + 1.0)
    loss.backward()
    assert x.grad is not None
    return [loss.item(), x.grad.numpy()]


def _shapes_only(rank: int, world_size: int) -> list[Any]:
    model = DistributedDataParallel(nn.MLP([64, 32, 10]))
    for x, y in digits(batch_size=24, rank=rank, world_size=world_size, steps=2):
        nn.functional.cross_entropy(model(x), y).backward()
    dist.barrier()
    return [list(p.shape) for p in model.parameters()]


PROGRAMS: tuple[Program, ...] = (
    Program("training: data parallel", _data_parallel),
    Program("training: gradients that cross collectives", _gradients),
    Program("training: shapes only", _shapes_only, {"device": "meta"}),
)
