import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import GroupError


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_parts_talk_among_themselves(backend):
    def program(rank, world_size):
        mine, every = dist.new_subgroups(2)
        x = np.array([rank])
        dist.all_reduce(x, group=mine)
        listed, _ = dist.new_subgroups_by_enumeration([[0], [1, 3]])
        part = dist.split_group(mine, [[1], [0]])
        y = np.array([rank])
        dist.all_reduce(y, group=part)
        ranks = None if listed is None else dist.get_process_group_ranks(listed)
        return int(x[0]), len(every), ranks, int(y[0])

    wanted = [(1, 2, [0], 0), (1, 2, [1, 3], 1), (5, 2, None, 2), (5, 2, [1, 3], 3)]
    assert sd.run(program, world_size=4, backend=backend).results == wanted


def test_what_cannot_be_divided():
    def program(rank, world_size):
        with pytest.raises(GroupError, match="cannot be divided"):
            dist.new_subgroups(2)
        with pytest.raises(GroupError, match="give group_size"):
            dist.new_subgroups()
        with pytest.raises(ValueError, match="rank 1 is in two lists"):
            dist.new_subgroups_by_enumeration([[0, 1], [1]])
        with pytest.raises(GroupError, match="no rank in any list"):
            dist.new_subgroups_by_enumeration([])
        with pytest.raises(RuntimeError, match="none twice"):
            dist.split_group(split_ranks=[[0, 5]])

    sd.run(program, world_size=3)


def test_a_group_has_a_limit_of_its_own():
    def program(rank, world_size):
        group = dist.new_group(timeout=0.5)
        if rank:
            sd.sleep(2.0)
        x = np.ones(1)
        try:
            dist.all_reduce(x, group=group)
        except TimeoutError:
            return sd.current_time()

    assert sd.run(program, world_size=2).results[0] == 0.5
