"""Copies beyond the common round (test_collectives): every root, shapes only, the barrier's meaning."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.tensor import MetaArray


@pytest.mark.parametrize("world_size", [1, 2, 3, 5, 8])
def test_broadcast_from_every_root(world_size):
    def program(rank, world_size):
        out = []
        for root in range(world_size):
            x = np.array([rank, 10 * rank])
            dist.broadcast(x, src=root)
            out.append(x.tolist())
        return out

    want = [[root, 10 * root] for root in range(world_size)]
    assert sd.run(program, world_size=world_size).results == [want] * world_size


def test_shapes_only_travel_too():
    def program(rank, world_size):
        x = MetaArray((1000,), np.dtype("float32"))
        dist.broadcast(x, src=0)
        out = MetaArray((2000,), np.dtype("float32"))
        dist.all_gather_into_tensor(out, x)
        parts = [MetaArray((1000,), np.dtype("float32")) for _ in range(2)] if rank == 0 else None
        dist.gather(x, parts, dst=0)
        dist.scatter(x, parts, src=0)
        return sd.current_time()

    assert all(t > 0 for t in sd.run(program, world_size=2).results)


def test_nobody_leaves_a_barrier_before_the_last_has_come():
    def program(rank, world_size):
        sd.sleep(1e-3 * rank)
        dist.barrier()
        return sd.current_time()

    assert all(t >= 4e-3 for t in sd.run(program, world_size=5).results)


def test_gather_and_scatter_default_to_rank_zero():
    def program(rank, world_size):
        parts = [np.zeros(1) for _ in range(world_size)] if rank == 0 else None
        dist.gather(np.array([float(rank)]), parts)
        x = np.zeros(1)
        dist.scatter(x, [p + 5 for p in parts] if rank == 0 else None)
        return x.tolist()

    assert sd.run(program, world_size=3).results == [[5], [6], [7]]
