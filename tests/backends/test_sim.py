"""What a simulated run tells about itself."""

import random

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import UnknownNameError


def test_network_levels_that_do_not_exist_are_refused():
    with pytest.raises(UnknownNameError, match=r"there is no network level named 'wires'.*Known: .*messages"):
        sd.run(lambda rank, world_size: None, world_size=1, network="wires")


@pytest.mark.parametrize("use", [lambda: np.random.rand(), lambda: random.random()], ids=["numpy", "python"])  # noqa: NPY002
def test_a_shared_random_state_is_reported(use):
    with pytest.warns(UserWarning, match="global random state, which all simulated ranks share"):
        run = sd.run(lambda rank, world_size: use(), world_size=2)
    assert any("default_rng" in note for note in run.notes)


def test_work_that_nobody_waited_for_is_reported():
    def program(rank, world_size):
        dist.all_reduce(np.zeros(3), async_op=True)
        sd.compute(seconds=1.0)

    notes = sd.run(program, world_size=2).notes
    assert notes == [
        f"rank {r} never waited for all_reduce #0: the result was not delivered. Call work.wait()." for r in range(2)
    ]


def test_a_run_that_communicates_and_bills_nothing_is_told():
    run = sd.run(lambda rank, world_size: dist.all_reduce(np.zeros(3)), world_size=2)
    assert any("plain numpy takes no simulated time" in note for note in run.notes)


def test_memory_of_a_run():
    def program(rank, world_size):
        x = sd.ones(1000, requires_grad=True)
        return (x * 2).sum().item()

    use = sd.run(program, world_size=2, cluster="dgx-a100").memory[1]
    assert use.rank == 1
    assert use.peak >= 8000
    assert use.capacity == 80e9
    assert sum(use.at_peak.values()) == use.peak


def test_memory_is_finite():
    def program(rank, world_size):
        return sd.zeros(30_000, 1_000_000)

    with pytest.raises(sd.SimdistError, match=r"rank 0 at .*no room for 120 GB of .* of 80 GB are held") as found:
        sd.run(program, world_size=2, cluster="dgx-a100", device="meta")
    assert type(found.value).__name__ == "OutOfMemoryError"
