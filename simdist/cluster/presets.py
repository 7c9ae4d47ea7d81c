"""Which machines does simdist know by name, and where does each number come from?

A preset is one row: how to build its node, how many devices it starts with, whether it grows, and the source of every
number. A number that nobody published is a measurement or an assumption, and its source begins with that word. Sources
that recur have a short name in ``SOURCES``.

Three choices that hold for all rows:

* Peaks are dense rates (data sheets like to print the sparse ones, twice as high). ``float32`` is TF32 where the vendor's
  library multiplies float32 matrices that way.
* Latencies are NCCL's hardware latency of one ring step in its low-latency protocol. It is from device to device, so each of
  the two links through a switch has half.
* The efficiency of matrix products rises as s / (s + s_half) to the largest rate that was measured (MAMF). s_half is the
  square product whose 128 x 128 output tiles occupy half of the A100's 108 multiprocessors: 128 sqrt(54) = 941.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from simdist.cluster.accelerator import Accelerator, saturation
from simdist.cluster.cluster import Cluster
from simdist.cluster.link import Link
from simdist.cluster.node import Node
from simdist.errors import ClusterError, UnknownNameError
from simdist.units import GB, TB, GiB, gbit, gflops, tflops, us

__all__ = ["PRESETS", "SOURCES", "Preset", "get", "names", "sources"]

SOURCES: dict[str, str] = {
    "bekman": "S. Bekman, Machine Learning Engineering (github.com/stas00/ml-engineering, 2026-08-22), accelerator and network",
    "nccl": "NCCL src/graph/tuning.cc, table of hardware latencies, ring, low-latency protocol (master of 2026-06-11)",
    "sysrqmts": "sysrqmts.com, comparison of A100 PCIe and V100 PCIe (GPU database figures)",
    "tf32": "NVIDIA A100 and H100 data sheets: TF32, dense (156 and 495 TFLOP/s)",
    "v100": "NVIDIA V100 white paper as quoted at maosong.website/p/nvidia-gpu-specs",
    "dgx1": "NVIDIA DGX-1 with V100 description (iitr.ac.in/dgx; leslivresblancs.fr): 25 GB/s a link, four 100 Gbit/s cards",
    "dgx1-wires": "NCCL topology file of a DGX-1 V100 in github.com/NVIDIA/nccl/issues/671 (links of accelerators 0-3; the other "
    "four mirror them: each has six)",
    "megatron": "Narayanan et al., SC21, arXiv:2104.04473: Selene's nodes have 8 HDR InfiniBand cards",
    "hotchips": "Huawei at Hot Chips 2019 (vengineer.hatenablog.com/entry/2019/09/06/070000; besthub.dev)",
    "linley": "Linley Newsletter, October 8, 2019: 32 GB of HBM2 in four stacks",
    "loopback": "measurement: one way over loopback TCP, two processes, x86-64 Linux: 32 us for 8 bytes, 5.2 GB/s at 8 MB",
    "numpy": "measurement: numpy 2.4 with OpenBLAS, one thread of an x86-64 server core (AMD EPYC)",
    "launch": "assumption: a few microseconds to start a kernel (torchedup.dev/problems/kernel-launch-overhead), 5 us taken",
    "curve": "assumption: s / (s + 941), half of 108 multiprocessors busy with 128 x 128 tiles; no published rate over size",
}


class Preset(NamedTuple):
    """One row.

    ``build(num_devices)`` makes the cluster; ``step`` is by how many devices it grows, 0 if it does not; ``default`` is how
    many devices it has unless asked; ``sources`` are (key, source).
    """

    about: str
    build: Callable[[int], Cluster]
    default: int
    step: int
    sources: tuple[tuple[str, str], ...]


_CURVE_HALF = 128 * math.sqrt(108 / 2)

_A100 = Accelerator(
    "A100 SXM 80GB",
    {"float16": tflops(312), "bfloat16": tflops(312), "float32": tflops(156), "float64": tflops(9.746)},
    80 * GB, 2.0 * TB, 5 * us, saturation(271.2 / 312, _CURVE_HALF),
)  # fmt: skip
_A100_PCIE = Accelerator(
    "A100 PCIe 80GB",
    {"float16": tflops(312), "bfloat16": tflops(312), "float32": tflops(156), "float64": tflops(9.746)},
    80 * GB, 1.94 * TB, 5 * us, saturation(252.9 / 312, _CURVE_HALF),
)  # fmt: skip
_H100 = Accelerator(
    "H100 SXM",
    {"float16": tflops(989), "bfloat16": tflops(989), "float32": tflops(495)},
    80 * GB, 3.35 * TB, 5 * us, saturation(794.5 / 989, _CURVE_HALF),
)  # fmt: skip
_H200 = Accelerator(
    "H200 SXM",
    {"float16": tflops(989), "bfloat16": tflops(989), "float32": tflops(495)},
    141 * GB, 4.8 * TB, 5 * us, saturation(794.5 / 989, _CURVE_HALF),
)  # fmt: skip
_B200 = Accelerator(
    "B200 SXM",
    {"float16": tflops(2250), "bfloat16": tflops(2250), "float32": tflops(1125)},
    180 * GB, 8.0 * TB, 5 * us, saturation(1745 / 2250, _CURVE_HALF),
)  # fmt: skip
_V100 = Accelerator(
    "V100 SXM2 16GB", {"float16": tflops(125), "float32": tflops(15.7)}, 16 * GB, 900 * GB, 5 * us
)  # fmt: skip
_ASCEND910 = Accelerator(
    "Ascend 910", {"float16": tflops(256), "int8": tflops(512), "float32": tflops(256)}, 32 * GB, 900 * GB, 5 * us
)  # fmt: skip
_CPU_CORE = Accelerator(
    "CPU core",
    {"float32": gflops(90.9), "float64": gflops(43.0)},
    4 * GiB, 18.6 * GB, 5 * us,
    tuple((size, rate / 90.9) for size, rate in (
        (16, 2.6), (32, 25.5), (64, 64.7), (128, 74.7), (256, 85.8), (1024, 89.5), (2048, 90.9))),
)  # fmt: skip

_NVLINK_LATENCY = 0.6 * us / 2
_NET_LATENCY = 2.7 * us / 2
_TCP_LATENCY = 32 * us / 2


def _switched(name: str, device: Accelerator, fabric: float, nic: float) -> Callable[[int], Cluster]:
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


def _dgx1(num_devices: int) -> Cluster:
    quad = ((0, 1, 1), (0, 2, 1), (0, 3, 2), (1, 2, 2), (1, 3, 1), (2, 3, 2))
    across = ((0, 4, 2), (1, 5, 2), (2, 6, 1), (3, 7, 1))
    node = Node(
        (_V100,) * 8,
        fabric=Link(25 * GB, 0.6 * us, name="NVLink2"),
        layout="wires",
        wires=quad + tuple((i + 4, j + 4, wires) for i, j, wires in quad) + across,
        host=Link(15.5 * GB, 1.0 * us / 2, name="PCIe3 x16"),
        num_nics=4,
        nic=Link(gbit(100), _NET_LATENCY, name="InfiniBand EDR"),
        name="dgx1-v100",
    )
    return Cluster("dgx1-v100", (node,) * (num_devices // 8))


def _atlas(num_devices: int) -> Cluster:
    mesh = ((0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1), (2, 3, 1))
    node = Node(
        (_ASCEND910,) * 8,
        fabric=Link(gbit(240), 0.6 * us, name="HCCS"),
        layout="wires",
        wires=mesh + tuple((i + 4, j + 4, wires) for i, j, wires in mesh),
        host=Link(31 * GB, 1.0 * us / 2, name="PCIe4 x16"),
        num_nics=8,
        nic=Link(gbit(100), _NET_LATENCY, name="RoCE"),
        name="atlas-900",
    )
    return Cluster("atlas-900", (node,) * (num_devices // 8))


def _pcs(name: str, rate: float) -> Callable[[int], Cluster]:
    """One device and one Ethernet card in each PC."""

    def build(num_devices: int) -> Cluster:
        node = Node((_A100_PCIE,), num_nics=1, nic=Link(gbit(rate), _TCP_LATENCY, name=f"{rate:g} GbE"), name="pc")
        return Cluster(name, (node,) * num_devices)

    return build


def _cores(name: str) -> Callable[[int], Cluster]:
    """Processes on the cores of one machine, joined by loopback TCP."""

    def build(num_devices: int) -> Cluster:
        node = Node((_CPU_CORE,) * num_devices, fabric=Link(5.2 * GB, _TCP_LATENCY, name="loopback TCP"), name=name)
        return Cluster(name, (node,))

    return build


_NVSWITCH = (
    ("fabric.latency", SOURCES["nccl"]),
    ("nic.latency", SOURCES["nccl"]),
    ("launch_overhead", SOURCES["launch"]),
)


def _device_sources(peaks: str, memory: str, efficiency: str) -> tuple[tuple[str, str], ...]:
    return (("peak_flops", peaks), ("memory", memory), ("memory_bandwidth", memory), ("efficiency", efficiency))


def _bekman(mamf: str) -> tuple[tuple[str, str], ...]:
    curve = f"ceiling: {mamf} TFLOP/s achievable (MAMF), {SOURCES['bekman']}; shape: {SOURCES['curve']}"
    return _device_sources(SOURCES["bekman"] + "; dense rates", SOURCES["bekman"], curve)


_CORE_SOURCES = (
    *_device_sources(SOURCES["numpy"] + ", square products", "assumption: 4 GiB for each process", SOURCES["numpy"]),
    ("memory_bandwidth", "measurement: copying 16 MB on one core, 18.6 GB/s"),
    ("launch_overhead", "assumption: Python's cost of one primitive, 5 us (a bare numpy call was measured at 0.3 us)"),
    ("fabric.bandwidth", SOURCES["loopback"]),
    ("fabric.latency", SOURCES["loopback"] + "; half on each side"),
)
_PC_SOURCES = (
    *_bekman("252.9"),
    ("peak_flops.float32", SOURCES["tf32"]),
    ("peak_flops.float64", SOURCES["sysrqmts"]),
    ("nic.bandwidth", "the name of the Ethernet standard"),
    ("nic.latency", "assumption: kernel TCP between machines costs what it was measured to cost over loopback, 32 us"),
    ("launch_overhead", SOURCES["launch"]),
)

PRESETS: dict[str, Preset] = {
    "laptop": Preset(
        "four cores of one computer over loopback TCP, a fixed size", _cores("laptop"), 4, 0,
        (("num_devices", "assumption: four cores"), *_CORE_SOURCES),
    ),
    "localhost": Preset(
        "processes on one machine over loopback TCP, as many as are asked for", _cores("localhost"), 4, 1,
        (("num_devices", "assumption: one core for each process"), *_CORE_SOURCES),
    ),
    "dgx1-v100": Preset(
        "8 V100 in a hybrid cube mesh, four 100 Gbit/s cards", _dgx1, 8, 8,
        (
            *_device_sources(SOURCES["v100"], SOURCES["v100"], "no source: the peak is taken (1.0)"),
            ("memory_bandwidth", "io-tech.fi on the V100: four HBM2 stacks, 900 GB/s"),
            ("launch_overhead", SOURCES["launch"]),
            ("fabric.bandwidth", SOURCES["dgx1"]),
            ("fabric.latency", SOURCES["nccl"]),
            ("wires", SOURCES["dgx1-wires"]),
            ("host.bandwidth", "PCIe3 x16 (iitr.ac.in/dgx): half of PCIe4 x16's 31 GB/s, " + SOURCES["bekman"]),
            ("host.latency", SOURCES["nccl"]),
            ("num_nics", SOURCES["dgx1"]),
            ("nic.bandwidth", SOURCES["dgx1"]),
            ("nic.latency", SOURCES["nccl"]),
        ),
    ),
    "dgx-a100": Preset(
        "8 A100 80GB behind NVSwitch (NVLink3), 8 HDR 200 Gbit/s cards", _switched("dgx-a100", _A100, 300 * GB, gbit(200)), 8, 8,
        (
            *_bekman("271.2"),
            ("peak_flops.float32", SOURCES["tf32"]),
            ("peak_flops.float64", SOURCES["sysrqmts"]),
            ("fabric.bandwidth", SOURCES["bekman"] + ", NVLink3, one direction (NCCL's rings reach 227 GB/s of it)"),
            ("num_nics", SOURCES["megatron"]),
            ("nic.bandwidth", SOURCES["megatron"] + "; HDR is 200 Gbit/s"),
            *_NVSWITCH,
        ),
    ),
    "dgx-h100": Preset(
        "8 H100 behind NVSwitch (NVLink4), 8 NDR 400 Gbit/s cards", _switched("dgx-h100", _H100, 450 * GB, gbit(400)), 8, 8,
        (
            *_bekman("794.5"),
            ("peak_flops.float32", SOURCES["tf32"]),
            ("fabric.bandwidth", SOURCES["bekman"] + ", NVLink4, one direction"),
            ("nic.bandwidth", SOURCES["bekman"] + ", DGX H100: 8 x NDR 400"),
            *_NVSWITCH,
        ),
    ),
    "dgx-h200": Preset(
        "8 H200 behind NVSwitch (NVLink4), 8 NDR 400 Gbit/s cards", _switched("dgx-h200", _H200, 450 * GB, gbit(400)), 8, 8,
        (
            *_bekman("794.5 (the H100's: same chip)"),
            ("peak_flops.float32", SOURCES["tf32"]),
            ("fabric.bandwidth", SOURCES["bekman"] + ", NVLink4, one direction"),
            ("nic.bandwidth", "assumption: the cards of the DGX H100"),
            *_NVSWITCH,
        ),
    ),
    "dgx-b200": Preset(
        "8 B200 behind NVSwitch (NVLink5), 8 NDR 400 Gbit/s cards", _switched("dgx-b200", _B200, 900 * GB, gbit(400)), 8, 8,
        (
            *_bekman("1745"),
            ("peak_flops.float32", "assumption: TF32 at half of bfloat16, as on A100 and H100"),
            ("fabric.bandwidth", SOURCES["bekman"] + ", NVLink5, one direction"),
            ("nic.bandwidth", "assumption: the cards of the DGX H100"),
            *_NVSWITCH,
        ),
    ),
    "atlas-900": Preset(
        "8 Ascend 910: two meshes of four over HCCS, PCIe4 between them, a 100 Gbit/s port each", _atlas, 8, 8,
        (
            *_device_sources(SOURCES["hotchips"], SOURCES["linley"], "no source: the peak is taken (1.0)"),
            ("peak_flops.float32", "assumption: float32 products run on the float16 cube units, as the vendor's library does"),
            ("memory_bandwidth", "assumption: four HBM2 stacks as on the V100, 900 GB/s"),
            ("launch_overhead", SOURCES["launch"]),
            ("fabric.bandwidth", SOURCES["hotchips"] + ": three HCCS ports of 240 Gbit/s"),
            ("fabric.latency", "assumption: as NVLink, " + SOURCES["nccl"]),
            ("wires", "assumption: three ports make a full mesh of four; two of these in a server of eight"),
            ("host.bandwidth", "hxnews.com 2019: PCIe 4.0 to the CPU; 31 GB/s, " + SOURCES["bekman"]),
            ("host.latency", SOURCES["nccl"]),
            ("nic.bandwidth", "hxnews.com 2019, launch of Atlas 900: 100 Gbit/s Ethernet for each port"),
            ("nic.latency", "assumption: as InfiniBand, " + SOURCES["nccl"]),
        ),
    ),
    "pc-10gbe": Preset("PCs with an A100 PCIe each on 10 Gbit/s Ethernet", _pcs("pc-10gbe", 10), 8, 1, _PC_SOURCES),
    "pc-25gbe": Preset("PCs with an A100 PCIe each on 25 Gbit/s Ethernet", _pcs("pc-25gbe", 25), 8, 1, _PC_SOURCES),
    "pc-100gbe": Preset("PCs with an A100 PCIe each on 100 Gbit/s Ethernet", _pcs("pc-100gbe", 100), 8, 1, _PC_SOURCES),
}  # fmt: skip
"""Every machine that has a name."""


def names() -> list[str]:
    """The names of all presets, sorted."""
    return sorted(PRESETS)


def _row(name: str) -> Preset:
    row = PRESETS.get(name)
    if row is None:
        raise UnknownNameError("cluster", name, PRESETS)
    return row


def get(name: str, num_devices: int | None = None) -> Cluster:
    """The cluster of that name.

    Args:
        name: one of ``names()``.
        num_devices: at least so many devices: a preset that grows gets as many whole nodes as it takes, none is made smaller.

    Raises:
        UnknownNameError: no such name; the text names the nearest.
        ClusterError: the preset has a fixed size and is too small, or ``num_devices`` is no positive integer.
    """
    row = _row(name)
    if num_devices is None:
        return _built(name, row.default)
    if isinstance(num_devices, bool) or not isinstance(num_devices, int) or num_devices < 1:
        raise ClusterError(
            f"clusters.get({name!r}): num_devices must be an integer of at least 1, got {num_devices!r}."
        )
    if num_devices > row.default and not row.step:
        grows = ", ".join(other for other in names() if PRESETS[other].step)
        raise ClusterError(
            f"cluster {name!r} has {row.default} devices and does not grow to {num_devices}. Take one that grows ({grows}), or "
            f"describe your own with simdist.cluster.Cluster."
        )
    missing = max(0, num_devices - row.default)
    return _built(name, row.default + (-(-missing // row.step) * row.step if row.step else 0))


@cache
def _built(name: str, num_devices: int) -> Cluster:
    return PRESETS[name].build(num_devices)


def sources(name: str) -> list[tuple[str, object, str]]:
    """(key, value, source) of every number of a preset.

    Raises:
        UnknownNameError: no such name.
    """
    row = _row(name)
    cluster = get(name)
    return [(key, _value(cluster, key), source) for key, source in row.sources]


def _value(cluster: Cluster, key: str) -> object:
    node = cluster.nodes[0]
    device = node.accelerators[0]
    head, _, tail = key.partition(".")
    if head == "peak_flops":
        return device.peak(tail) if tail else dict(device.peak_flops)
    if key == "num_devices":
        return cluster.num_devices
    holder: object = device if hasattr(device, head) else node
    value = getattr(holder, head)
    return getattr(value, tail) if tail else value
