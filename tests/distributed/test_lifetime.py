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


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"init_method": "tcp://node0:29500", "world_size": 1}, ValueError, "'tcp://node0:29500': rank is missing"),
        ({"init_method": "tcp://node0?rank=0&world_size=1"}, ValueError, "port is missing"),
        ({"init_method": "file://./x", "rank": 0}, ValueError, "world_size is missing"),
        ({"init_method": "file://./x?rank=0&world_size=4"}, ValueError, "world_size=4.*the run has world_size 1"),
        ({"init_method": "nope://x", "rank": 0, "world_size": 1}, RuntimeError, "no rendezvous of the kind 'nope'"),
        ({"init_method": 7}, TypeError, "an address is a text"),
        ({"backend": "glo"}, AssertionError, "init_process_group: there is no backend 'glo'. Did you mean 'gloo'"),
        ({"backend": 7}, TypeError, "backend must be a name"),
        ({"store": "x", "rank": 0, "world_size": 1}, TypeError, "store must be a Store"),
        ({"store": ..., "init_method": "env://"}, AssertionError, "either init_method or store"),
        ({"store": ...}, AssertionError, "with a store, rank and world_size are needed"),
        ({"store": ..., "rank": 3, "world_size": 2}, RuntimeError, "rank 3 is not below world_size 2"),
        ({"store": ..., "rank": 0, "world_size": 2}, ValueError, "world_size=2.*the run has world_size 1"),
        ({"timeout": "5"}, TypeError, "timeout must be a timedelta, or a number of seconds"),
    ],
)
def test_what_contradicts_the_run_or_torch_is_refused(arguments, error, text):
    def program(rank, world_size):
        given = {name: dist.HashStore() if value is ... else value for name, value in arguments.items()}
        with pytest.raises(error, match=text):
            dist.init_process_group(**given)
        dist.init_process_group("cpu:gloo,cuda:nccl", store=dist.HashStore(), rank=0, world_size=1)

    sd.run(program, world_size=1)


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_the_variables_of_the_environment_need_not_be_there_and_must_not_contradict(backend, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "8")

    def program(rank, world_size):
        with pytest.raises(ValueError, match=r"world_size=8\), but the run has world_size 2"):
            dist.init_process_group("gloo", init_method="env://")
        dist.init_process_group("gloo")

    sd.run(program, world_size=2, backend=backend)


def test_the_end_of_the_default_group_is_the_end_of_all():
    def program(rank, world_size):
        world, part = dist.group.WORLD, dist.new_group([0])
        assert dist.GroupMember.WORLD is world
        dist.destroy_process_group()
        assert dist.GroupMember.WORLD is None
        for call in (
            lambda: dist.all_reduce(np.zeros(1), group=world),
            lambda: dist.get_rank(world),
            lambda: dist.destroy_process_group(),
            lambda: dist.send(np.zeros(1), 0, group=world),
        ):
            with pytest.raises(ValueError, match=r"has been destroyed|has not been initialized"):
                call()
        if rank == 0:
            with pytest.raises(
                dist.DistError, match=r"rank 0: all_reduce on .*, which has been destroyed\. Make a new"
            ):
                dist.all_reduce(np.zeros(1), group=part)
        dist.init_process_group()
        dist.barrier()

    sd.run(program, world_size=2)
    assert dist.group.WORLD is None
