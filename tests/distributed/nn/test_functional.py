"""Gradients through collectives against finite differences of the sum of all ranks' losses; simulated and real."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.distributed.nn import functional as F
from simdist.errors import GradientError
from simdist.tensor import stack, tensor

CALLS = {
    "broadcast": lambda x, w: F.broadcast(x, 1),
    "reduce": lambda x, w: F.reduce(x, 1),
    "all_reduce": lambda x, w: F.all_reduce(x),
    "all_reduce AVG": lambda x, w: F.all_reduce(x, dist.ReduceOp.AVG),
    "all_gather": lambda x, w: stack(F.all_gather(x)),
    "gather": lambda x, w: stack(F.gather(x, 1)),
    "scatter": lambda x, w: F.scatter([x * (k + 1.0) for k in range(w)], 1),
    "reduce_scatter": lambda x, w: F.reduce_scatter(x, [x * (k + 1.0) for k in range(w)]),
    "all_to_all_single": lambda x, w: F.all_to_all_single(x, x),
    "all_to_all": lambda x, w: stack(F.all_to_all([x] * w, [x * (k + 1.0) for k in range(w)])),
}


def loss_of(name, x, rank, world_size):
    y = CALLS[name](x, world_size)
    weights = np.sin(np.arange(y.numel()) + rank).reshape(y.shape)
    if name == "reduce" and rank != 1:
        weights = weights * 0  # elsewhere the own tensor comes back, which is no result
    return (y * y * tensor(weights)).sum()


def program(rank, world_size, name):
    start = np.cos(np.arange(6.0) + 3 * rank)
    x = tensor(start, requires_grad=True)
    loss_of(name, x, rank, world_size).backward()
    numeric = np.zeros((world_size, 6))
    for owner in range(world_size):
        for i in range(6):
            ends = []
            for step in (1e-6, -1e-6):
                moved = start.copy()
                moved[i] += step * (owner == rank)
                total = np.array([loss_of(name, tensor(moved), rank, world_size).item()])
                dist.all_reduce(total)
                ends.append(total[0])
            numeric[owner, i] = (ends[0] - ends[1]) / 2e-6
    return x.grad.numpy(), numeric[rank]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("backend", ["sim", "process"])
def test_gradients_are_those_of_the_sum_of_losses(name, backend):
    for gradient, numeric in sd.run(program, name, world_size=3, backend=backend).results:
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


def test_case_18_a_group_of_one_rank_that_is_not_rank_zero():
    def one(rank, world_size):
        group = dist.new_group([1])
        x = tensor(np.array([float(rank)]), requires_grad=True)
        if rank == 1:
            F.broadcast(x, 1, group).backward(np.ones(1))
            return x.grad.numpy().tolist()
        return None

    assert sd.run(one, world_size=2).results == [None, [1.0]]


def test_a_maximum_is_not_crossed():
    def maximum(rank, world_size):
        F.all_reduce(tensor(np.ones(1)), dist.ReduceOp.MAX)

    with pytest.raises(GradientError, match="gradients cross SUM or AVG only"):
        sd.run(maximum, world_size=2)
