from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.learn.classroom import (
    ALPHA,
    BANDWIDTH,
    FABRIC,
    FLOPS,
    NEAR,
    about,
    all_reduce_bound,
    classroom,
    least_all_reduce,
    message_time,
    two_levels,
)


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


def test_other_numbers_give_another_network() -> None:
    done = sd.run(send_one, 1000, world_size=2, cluster=classroom(2, alpha=1e-3, bandwidth=8e6))
    assert done.time == pytest.approx(1e-3 + 1e-3, rel=1e-12)


def send_to(rank: int, world_size: int, peer: int) -> None:
    if rank == 0:
        dist.send(np.zeros(1000), dst=peer)
    elif rank == peer:
        dist.recv(np.zeros(1000), src=0)


@pytest.mark.parametrize("scale", [1, 10])
def test_inside_a_machine_is_ten_times_as_wide(scale: int) -> None:
    machines = two_levels(3, 2, scale)
    assert [machines.node_of(rank) for rank in range(6)] == [0, 0, 1, 1, 2, 2]
    inside = sd.run(send_to, 1, world_size=6, cluster=machines).time
    between = sd.run(send_to, 5, world_size=6, cluster=machines).time
    assert inside == pytest.approx(NEAR + 8000 * scale / FABRIC, rel=1e-12)
    assert between == pytest.approx(ALPHA + 8000 * scale / BANDWIDTH, rel=1e-12)


@pytest.mark.parametrize(("per_node", "num_nodes"), [(1, 3), (2, 1)])
def test_machines_may_be_single(per_node: int, num_nodes: int) -> None:
    assert two_levels(num_nodes, per_node).num_devices == per_node * num_nodes


def test_two_bounds_of_an_all_reduce() -> None:
    assert all_reduce_bound(64, 8) == 6 * ALPHA
    assert all_reduce_bound(2, 1e9) == 1e9 / BANDWIDTH
    assert least_all_reduce(2, 1e9) == ALPHA + 1e9 / BANDWIDTH
    assert least_all_reduce(1, 1e9) == all_reduce_bound(1, 1e9) == 0.0
    assert least_all_reduce(64, 8) < all_reduce_bound(64, 8)
