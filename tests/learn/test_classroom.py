from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.learn.classroom import ALPHA, BANDWIDTH, FLOPS, about, classroom, message_time


def send_one(rank: int, world_size: int, count: int) -> None:
    if rank == 0:
        dist.send(np.zeros(count), dst=1)
    elif rank == 1:
        dist.recv(np.zeros(count), src=0)


@pytest.mark.parametrize("count", [1, 1000, 125_000])
def test_a_message_takes_alpha_and_n_over_b(count: int) -> None:
    done = sd.run(send_one, count, world_size=2, cluster=classroom(2))
    assert done.time == pytest.approx(ALPHA + 8 * count / BANDWIDTH, rel=1e-12)
    assert message_time(8 * count) == pytest.approx(done.time, rel=1e-12)


def test_a_scaled_network_gives_the_time_of_the_full_size() -> None:
    small = sd.run(send_one, 125, world_size=2, cluster=classroom(2, scale=1000))
    full = sd.run(send_one, 125_000, world_size=2, cluster=classroom(2))
    assert small.time == pytest.approx(full.time, rel=1e-12)


def test_the_accelerator_has_one_rate() -> None:
    device = classroom(3).device(2)
    assert classroom(3).num_devices == 3
    assert device.peak("float64") == device.peak("float32") == FLOPS
    assert device.launch_overhead == 0


def test_the_numbers_for_a_learner() -> None:
    assert about() == "α = 5 us, B = 25 GB/s"
