"""Ranks in groups: their order, their number, their end."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist


def test_group_ranks_may_follow_the_list(where):
    def program(rank, world_size):
        group = dist.new_group([2, 0, 1], sort_ranks=False)
        out = [np.zeros(1, int) for _ in range(3)]
        total, first = np.full(2, rank), np.full(1, rank)
        if rank < 3:
            dist.all_gather(out, np.array([rank]), group=group)
            dist.all_reduce(total, group=group)
            dist.broadcast(first, group_src=0, group=group)
            work = dist.isend(np.array([10 * rank]), group_dst=(group.rank() + 1) % 3, group=group)
            dist.recv(out[0], group_src=(group.rank() - 1) % 3, group=group)
            work.wait()
        return (
            dist.get_rank(group), dist.get_process_group_ranks(group), [int(x[0]) for x in out], total.tolist(),
            int(first[0]), dist.get_global_rank(group, 0), dist.get_group_rank(group, 0),
        )  # fmt: skip

    results = sd.run(program, world_size=4, **where).results
    assert [row[0] for row in results] == [1, 2, 0, -1]
    assert [row[1] for row in results] == [[2, 0, 1]] * 4
    assert [row[2] for row in results] == [[20, 0, 1], [0, 0, 1], [10, 0, 1], [0, 0, 0]]
    assert [row[3:5] for row in results] == [([3, 3], 2)] * 3 + [([3, 3], 3)]
    assert [row[5:] for row in results] == [(2, 1)] * 4


def test_they_are_sorted_if_nothing_else_is_said():
    def program(rank, world_size):
        group = dist.new_group([2, 0], use_local_synchronization=True)
        assert dist.get_process_group_ranks(group) == [0, 2]
        group = dist.new_group([2, 0], use_local_synchronization=True, sort_ranks=False)
        return dist.get_process_group_ranks(group), group.rank()

    assert sd.run(program, world_size=3).results == [([2, 0], 1), ([2, 0], -1), ([2, 0], 0)]


def test_ranks_that_list_them_in_another_order_are_told():
    def program(rank, world_size):
        dist.new_group([0, 1] if rank else [1, 0], sort_ranks=False)

    with pytest.raises(dist.DistError, match=r"new_group\(\[0, 1\]\).*rank 0 called new_group\(\[1, 0\]\)"):
        sd.run(program, world_size=2)


def test_a_group_that_has_been_destroyed():
    def program(rank, world_size):
        group = dist.new_group([0, 1])
        dist.destroy_process_group(group)
        for call in (dist.get_rank, dist.get_world_size, dist.get_process_group_ranks, dist.barrier):
            with pytest.raises(
                ValueError, match=rf"rank {rank}: {call.__name__} on ProcessGroup\('group 1', .*destroyed"
            ):
                call(group)
        with pytest.raises(ValueError, match=r"get_global_rank on .* has been destroyed"):
            dist.get_global_rank(group, 0)
        with pytest.raises(ValueError, match=r"destroy_process_group on .* has been destroyed"):
            dist.destroy_process_group(group)
        dist.barrier()
        return dist.is_initialized()

    def stranger(rank, world_size):
        group = dist.new_group([1])
        if rank == 0:
            dist.destroy_process_group(group)
            dist.destroy_process_group(group)
            return dist.get_rank(group), dist.get_world_size(group)

    assert sd.run(program, world_size=2).results == [True, True]
    assert sd.run(stranger, world_size=2).results == [(-1, -1), None]


def test_names_of_backends_and_marks():
    def program(rank, world_size):
        dist.new_group(backend="cpu:gloo")
        with pytest.raises(AssertionError, match=r"new_group: there is no backend 'nope'\. Known: fake, gloo, mpi"):
            dist.new_group(backend="nope")
        with pytest.raises(ValueError, match="there is no backend 'gpu:gloo'"):
            dist.new_group(backend="gpu:gloo")
        return dist.group.WORLD.size(), dist.GroupMember.WORLD is dist.group.WORLD, dist.group.NON_GROUP_MEMBER

    assert sd.run(program, world_size=2).results == [(2, True, -100)] * 2
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dist.group.nothing
