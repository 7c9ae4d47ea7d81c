"""Do the builders make as many devices as they are asked for, joined as they say?"""

from __future__ import annotations

import pytest

from simdist.cluster import hardware
from simdist.units import GB, gbit, tflops


@pytest.mark.parametrize(("build", "sizes"), [
    (hardware.switched("x", hardware.A100, 300 * GB, gbit(200)), (8, 16, 64)),
    (hardware.dgx1, (8, 24)),
    (hardware.atlas, (8, 16)),
    (hardware.pcs("x", 25), (1, 2, 7)),
    (hardware.cores("x"), (1, 3, 32)),
])  # fmt: skip
def test_a_builder_makes_the_number_of_devices(build, sizes) -> None:
    for size in sizes:
        cluster = build(size)
        assert cluster.num_devices == size
        assert cluster.route(0, size - 1).bandwidth > 0


def test_equal_nodes_are_one_object() -> None:
    nodes = hardware.switched("x", hardware.A100, 300 * GB, gbit(200))(64).nodes
    assert len(nodes) == 8
    assert all(node is nodes[0] for node in nodes)


def test_processes_on_one_machine_share_nothing_but_ports() -> None:
    cluster = hardware.cores("x")(4)
    assert len(cluster.nodes) == 1
    assert all(cluster.route(a, b).owned for a in range(4) for b in range(4))


def test_half_of_an_a100_is_busy_with_a_product_of_941() -> None:
    share = hardware.A100.matmul_efficiency(941, 941, 941)
    assert share == pytest.approx(271.2 / 312 / 2, rel=0.01)


@pytest.mark.parametrize(
    ("device", "double"), [(hardware.H100, 66.9), (hardware.A100, 9.746), (hardware.V100, 15.7 / 2)]
)
def test_double_precision(device, double: float) -> None:
    assert device.peak("float64") == pytest.approx(tflops(double))


def test_a_core_is_as_fast_as_it_was_measured() -> None:
    core = hardware.CPU_CORE
    for size, rate in ((16, 2.6e9), (64, 64.7e9), (256, 85.8e9), (2048, 90.9e9)):
        assert core.peak("float32") * core.matmul_efficiency(size, size, size) == pytest.approx(rate)
