"""The life of the default group; init_process_group as scripts for torch call it."""

import datetime

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist


def test_a_script_may_initialise_once_as_it_does_for_torch():
    def program(rank, world_size):
        dist.init_process_group("gloo", rank=rank, world_size=world_size, timeout=datetime.timedelta(seconds=5))
        assert dist.is_initialized()
        with pytest.raises(dist.DistError, match="exists already"):
            dist.init_process_group("gloo")
        dist.destroy_process_group()
        assert not dist.is_initialized()
        with pytest.raises(dist.DistError, match="has not been initialized"):
            dist.all_reduce(np.zeros(2))
        dist.init_process_group()
        x = np.ones(2)
        dist.all_reduce(x)
        return x.tolist(), dist.get_backend(), dist.get_rank(), dist.get_world_size()

    assert sd.run(program, world_size=3).results == [([3, 3], "sim", r, 3) for r in range(3)]


def test_wrong_world_size_or_rank():
    def program(rank, world_size):
        with pytest.raises(ValueError, match=r"init_process_group\(world_size=9\), but the run has world_size 2"):
            dist.init_process_group(world_size=9)
        with pytest.raises(ValueError, match=r"init_process_group\(rank=1\), but the run has rank 0"):
            dist.init_process_group(rank=1)

    sd.run(lambda rank, world_size: program(rank, world_size) if rank == 0 else None, world_size=2)


def test_is_available_and_outside():
    assert dist.is_available()
    assert not dist.is_initialized()
    with pytest.raises(dist.DistError, match="get_rank was called outside a run"):
        dist.get_rank()
