"""Of which devices and machines are the presets made?

Two choices that hold for all of them (``source`` and ``presets`` say where each number comes from):

* Latencies are NCCL's hardware latency of one ring step in its low-latency protocol. It is from device to device, so each of
  the two links through a switch has half.
* Peaks are dense rates (data sheets like to print the sparse ones, twice as high), and ``float32`` is TF32 where the vendor's
  library multiplies float32 matrices that way. The efficiency of products rises as s / (s + s_half) to the largest rate that was
  measured (MAMF); s_half is the square product whose 128 x 128 output tiles occupy half of the multiprocessors:
  128 sqrt(108 / 2) = 941 on an A100.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from simdist.cluster.accelerator import Accelerator, saturation
from simdist.cluster.cluster import Cluster
from simdist.cluster.link import Link
from simdist.cluster.node import Node
from simdist.units import GB, TB, GiB, gbit, gflops, tflops, us

__all__ = [
    "A100", "A100_PCIE", "ASCEND910", "B200", "CPU_CORE", "H100", "H200", "V100", "atlas", "cores", "dgx1", "pcs", "switched",
]  # fmt: skip


def _curve(achieved: float, peak: float, multiprocessors: int) -> tuple[tuple[float, float], ...]:
    return saturation(achieved / peak, 128 * math.sqrt(multiprocessors / 2))


A100 = Accelerator(
    "A100 SXM 80GB",
    {"float16": tflops(312), "bfloat16": tflops(312), "float32": tflops(156), "float64": tflops(9.746)},
    80 * GB, 2.0 * TB, 5 * us, _curve(271.2, 312, 108),
)  # fmt: skip
A100_PCIE = Accelerator(
    "A100 PCIe 80GB",
    {"float16": tflops(312), "bfloat16": tflops(312), "float32": tflops(156), "float64": tflops(9.746)},
    80 * GB, 1.94 * TB, 5 * us, _curve(252.9, 312, 108),
)  # fmt: skip
H100 = Accelerator(
    "H100 SXM",
    {"float16": tflops(989), "bfloat16": tflops(989), "float32": tflops(495), "float64": tflops(66.9)},
    80 * GB, 3.35 * TB, 5 * us, _curve(794.5, 989, 132),
)  # fmt: skip
H200 = Accelerator(
    "H200 SXM",
    {"float16": tflops(989), "bfloat16": tflops(989), "float32": tflops(495), "float64": tflops(66.9)},
    141 * GB, 4.8 * TB, 5 * us, _curve(794.5, 989, 132),
)  # fmt: skip
B200 = Accelerator(
    "B200 SXM",
    {"float16": tflops(2250), "bfloat16": tflops(2250), "float32": tflops(1125)},
    180 * GB, 8.0 * TB, 5 * us, _curve(1745, 2250, 132),
)  # fmt: skip
V100 = Accelerator(
    "V100 SXM2 16GB", {"float16": tflops(125), "float32": tflops(15.7)}, 16 * GB, 900 * GB, 5 * us
)  # fmt: skip
ASCEND910 = Accelerator(
    "Ascend 910", {"float16": tflops(256), "int8": tflops(512), "float32": tflops(256)}, 32 * GB, 900 * GB, 5 * us
)  # fmt: skip
CPU_CORE = Accelerator(
    "CPU core",
    {"float32": gflops(90.9), "float64": gflops(43.0)},
    4 * GiB, 18.6 * GB, 5 * us,
    tuple((size, rate / 90.9) for size, rate in (
        (16, 2.6), (32, 25.5), (64, 64.7), (128, 74.7), (256, 85.8), (1024, 89.5), (2048, 90.9))),
)  # fmt: skip

_NVLINK_LATENCY = 0.6 * us / 2
_NET_LATENCY = 2.7 * us / 2
_TCP_LATENCY = 32 * us / 2


def switched(name: str, device: Accelerator, fabric: float, nic: float) -> Callable[[int], Cluster]:
    """Eight devices behind an NVSwitch, each with a network card of its own."""

    def build(num_devices: int) -> Cluster:
        node = Node(
            (device,) * 8,
            fabric=Link(fabric, _NVLINK_LATENCY, name="NVLink"),
            num_nics=8,
            nic=Link(nic, _NET_LATENCY, name="InfiniBand"),
            name=name,
        )
        return Cluster(name, (node,) * (num_devices // 8))

    return build


def dgx1(num_devices: int) -> Cluster:
    """Eight V100 in a hybrid cube mesh, two on each network card; PCIe where there is no NVLink."""
    quad = ((0, 1, 1), (0, 2, 1), (0, 3, 2), (1, 2, 2), (1, 3, 1), (2, 3, 2))
    across = ((0, 4, 2), (1, 5, 2), (2, 6, 1), (3, 7, 1))
    node = Node(
        (V100,) * 8,
        fabric=Link(25 * GB, 0.6 * us, name="NVLink2"),
        layout="wires",
        wires=quad + tuple((i + 4, j + 4, wires) for i, j, wires in quad) + across,
        host=Link(15.5 * GB, 1.0 * us / 2, name="PCIe3 x16"),
        num_nics=4,
        nic=Link(gbit(100), _NET_LATENCY, name="InfiniBand EDR"),
        name="dgx1-v100",
    )
    return Cluster("dgx1-v100", (node,) * (num_devices // 8))


def atlas(num_devices: int) -> Cluster:
    """Eight Ascend 910 as two full meshes of four, PCIe between them, an Ethernet port each."""
    mesh = ((0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1), (2, 3, 1))
    node = Node(
        (ASCEND910,) * 8,
        fabric=Link(gbit(240), 0.6 * us, name="HCCS"),
        layout="wires",
        wires=mesh + tuple((i + 4, j + 4, wires) for i, j, wires in mesh),
        host=Link(31 * GB, 1.0 * us / 2, name="PCIe4 x16"),
        num_nics=8,
        nic=Link(gbit(100), _NET_LATENCY, name="RoCE"),
        name="atlas-900",
    )
    return Cluster("atlas-900", (node,) * (num_devices // 8))


def pcs(name: str, rate: float) -> Callable[[int], Cluster]:
    """One device and one Ethernet card in each PC."""

    def build(num_devices: int) -> Cluster:
        node = Node((A100_PCIE,), num_nics=1, nic=Link(gbit(rate), _TCP_LATENCY, name=f"{rate:g} GbE"), name="pc")
        return Cluster(name, (node,) * num_devices)

    return build


def cores(name: str) -> Callable[[int], Cluster]:
    """Processes on the cores of one machine, joined by loopback TCP."""

    def build(num_devices: int) -> Cluster:
        node = Node((CPU_CORE,) * num_devices, fabric=Link(5.2 * GB, _TCP_LATENCY, name="loopback TCP"), name=name)
        return Cluster(name, (node,))

    return build
