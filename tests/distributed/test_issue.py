"""Calls alike share a request, and each call of a group has its number."""

import numpy as np

import simdist as sd
import simdist.distributed as dist


def test_requests_are_shared_and_numbered():
    def program(rank, world_size):
        group = dist.new_group([0, 1])
        for _ in range(3):
            dist.all_reduce(np.zeros(4), group=group)
        dist.all_reduce(np.zeros(5), group=group)
        dist.all_reduce(np.zeros(4), op=dist.ReduceOp.MAX, group=group)
        return group.sequence, len(group.requests)

    assert sd.run(program, world_size=2).results == [(5, 3)] * 2


def test_a_stranger_is_warned_and_changes_nothing():
    def program(rank, world_size):
        group = dist.new_group([0])
        x = np.ones(2)
        if rank == 1:
            import pytest

            with pytest.warns(UserWarning, match="rank 1 calls all_reduce on .* of which it is no member"):
                assert dist.all_reduce(x, group=group) is None
        return x.tolist(), group.sequence

    assert sd.run(program, world_size=2).results == [([1, 1], 0)] * 2
