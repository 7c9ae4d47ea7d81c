"""``src`` and ``dst`` are global ranks, ``group_src`` and ``group_dst`` positions in the group.

Code that mixes them works until the first group without rank 0.
"""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.distributed.nn import functional


def test_roots_of_a_group_without_rank_0(where):
    def program(rank, world_size):
        group = dist.new_group([1, 3])
        x, y = np.array([rank]), np.array([rank])
        if group.rank() < 0:
            with pytest.warns(UserWarning, match=rf"rank {rank} calls all_reduce on .* no member: nothing happens"):
                assert dist.all_reduce(x, group=group) is None
            return dist.get_rank(group), x.tolist()
        dist.broadcast(x, src=3, group=group)
        dist.broadcast(y, group_src=0, group=group)
        with pytest.raises(
            ValueError, match=r"broadcast: src=0 is not in ProcessGroup\('group 1', ranks=\[1, 3\]\)\. src is a global"
        ):
            dist.broadcast(y, src=0, group=group)
        with pytest.raises(ValueError, match=r"broadcast: group_src=3, but .* has 2 ranks"):
            dist.broadcast(y, group_src=3, group=group)
        assert (dist.get_global_rank(group, 1), dist.get_group_rank(group, 3)) == (3, 1)
        return dist.get_rank(group), x.tolist(), y.tolist()

    assert sd.run(program, world_size=4, **where).results == [(-1, [0]), (0, [3], [1]), (-1, [2]), (1, [3], [1])]


def test_all_other_calls_with_a_root(where):
    def program(rank, world_size):
        group = dist.new_group([1, 3])
        if group.rank() < 0:
            return None
        total, part = np.array([rank]), np.zeros(1, int)
        dist.reduce(total, dst=3, group=group)
        there = [np.zeros(1, int) for _ in range(2)] if rank == 3 else None
        dist.gather(np.array([rank]), there, group_dst=1, group=group)
        dist.scatter(part, [np.array([10]), np.array([30])] if rank == 1 else None, group_src=0, group=group)
        objects = [f"from {rank}"]
        dist.broadcast_object_list(objects, src=3, group=group)
        message = np.array([7 * rank])
        if rank == 1:
            dist.send(message, dst=3, group=group)
        else:
            assert dist.recv(message, group_src=0, group=group) == 1
        return total.tolist(), there and [int(x[0]) for x in there], part.tolist(), objects, message.tolist()

    assert sd.run(program, world_size=4, **where).results[1::2] == [
        ([1], None, [10], ["from 3"], [7]),
        ([4], [1, 3], [30], ["from 3"], [7]),
    ]


def test_the_order_of_a_list_is_not_the_order_of_the_group(where):
    def program(rank, world_size):
        group = dist.new_group([3, 1])
        return dist.get_process_group_ranks(group), dist.get_rank(group)

    results = sd.run(program, world_size=4, **where).results
    assert results == [([1, 3], -1), ([1, 3], 0), ([1, 3], -1), ([1, 3], 1)]


def test_the_gradient_of_a_broadcast_from_a_group_s_only_rank(where):
    def program(rank, world_size):
        group = dist.new_group([1])
        if rank == 0:
            return None
        x = sd.tensor(np.zeros(2), requires_grad=True)
        functional.broadcast(x, 1, group).backward(np.ones(2))
        return x.grad.data.tolist()

    assert sd.run(program, world_size=2, **where).results == [None, [1.0, 1.0]]
