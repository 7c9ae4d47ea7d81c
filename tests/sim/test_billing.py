import numpy as np
import pytest

from simdist.cost import roofline
from tests.sim.programs import run


def test_a_primitive_costs_its_launch_and_its_roofline():
    def program(rank):
        rank.listener.primitive("matmul", "forward", 2e9, 1e6, np.dtype("float32"), (1000, 1000, 1000))

    job = run(program, 1)
    accelerator = job.ranks[0].accelerator
    work = roofline.seconds(accelerator, 2e9, 1e6, np.dtype("float32"), (1000, 1000, 1000))
    assert job.time == pytest.approx(accelerator.launch_overhead + work, rel=1e-12)
    assert [(s[2], s[3]) for s in job.spans] == [("launch", "matmul"), ("forward", "matmul")]


def test_a_straggler_takes_longer_for_all_of_it():
    def program(rank):
        rank.listener.primitive("relu", "backward", 1e6, 1e6, np.dtype("float32"), None)

    job = run(program, 2, stragglers={1: 3.0})
    assert job.ranks[1].main.now == pytest.approx(3 * job.ranks[0].main.now, rel=1e-12)


def test_memory_tokens_come_from_the_ranks_allocator():
    def program(rank):
        token = rank.listener.allocate(100, "activations")
        held = rank.allocator.total
        del token
        return held, rank.allocator.total

    assert run(program, 1).results == [(100, 0)]
