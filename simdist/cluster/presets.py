"""Which machines does simdist know by name, and where does each number come from?

A preset is one row: how to build it, how many devices it starts with, by how many it grows, and the source of every number. A
number that nobody published is a measurement or an assumption, and its source begins with that word; what has no source is
left out (the efficiency of a V100's products is then 1).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from simdist.cluster.cluster import Cluster
from simdist.cluster.hardware import A100, B200, H100, H200, atlas, cores, dgx1, pcs, switched
from simdist.cluster.source import SOURCES
from simdist.errors import ClusterError, UnknownNameError
from simdist.units import GB, gbit

__all__ = ["PRESETS", "Preset", "get", "names", "sources"]


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
        "four cores of one computer over loopback TCP, a fixed size", cores("laptop"), 4, 0,
        (("num_devices", "assumption: four cores"), *_CORE_SOURCES),
    ),
    "localhost": Preset(
        "processes on one machine over loopback TCP, as many as are asked for", cores("localhost"), 4, 1,
        (("num_devices", "assumption: one core for each process"), *_CORE_SOURCES),
    ),
    "dgx1-v100": Preset(
        "8 V100 in a hybrid cube mesh, four 100 Gbit/s cards", dgx1, 8, 8,
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
        "8 A100 80GB behind NVSwitch (NVLink3), 8 HDR 200 Gbit/s cards", switched("dgx-a100", A100, 300 * GB, gbit(200)), 8, 8,
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
        "8 H100 behind NVSwitch (NVLink4), 8 NDR 400 Gbit/s cards", switched("dgx-h100", H100, 450 * GB, gbit(400)), 8, 8,
        (
            *_bekman("794.5"),
            ("peak_flops.float32", SOURCES["tf32"]),
            ("peak_flops.float64", SOURCES["klockwood"]),
            ("fabric.bandwidth", SOURCES["bekman"] + ", NVLink4, one direction"),
            ("nic.bandwidth", SOURCES["bekman"] + ", DGX H100: 8 x NDR 400"),
            *_NVSWITCH,
        ),
    ),
    "dgx-h200": Preset(
        "8 H200 behind NVSwitch (NVLink4), 8 NDR 400 Gbit/s cards", switched("dgx-h200", H200, 450 * GB, gbit(400)), 8, 8,
        (
            *_bekman("794.5 (the H100's: same chip)"),
            ("peak_flops.float32", SOURCES["tf32"]),
            ("peak_flops.float64", SOURCES["klockwood"]),
            ("fabric.bandwidth", SOURCES["bekman"] + ", NVLink4, one direction"),
            ("nic.bandwidth", "assumption: the cards of the DGX H100"),
            *_NVSWITCH,
        ),
    ),
    "dgx-b200": Preset(
        "8 B200 behind NVSwitch (NVLink5), 8 NDR 400 Gbit/s cards", switched("dgx-b200", B200, 900 * GB, gbit(400)), 8, 8,
        (
            *_bekman("1745"),
            ("peak_flops.float32", "assumption: TF32 at half of bfloat16, as on A100 and H100"),
            ("fabric.bandwidth", SOURCES["bekman"] + ", NVLink5, one direction"),
            ("nic.bandwidth", "assumption: the cards of the DGX H100"),
            *_NVSWITCH,
        ),
    ),
    "atlas-900": Preset(
        "8 Ascend 910: two meshes of four over HCCS, PCIe4 between them, a 100 Gbit/s port each", atlas, 8, 8,
        (
            *_device_sources(SOURCES["hotchips"], SOURCES["linley"], "no source: the peak is taken (1.0)"),
            ("peak_flops.float32", "assumption: float32 products run on the float16 cube units"),
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
    "pc-10gbe": Preset("PCs with an A100 PCIe each on 10 Gbit/s Ethernet", pcs("pc-10gbe", 10), 8, 1, _PC_SOURCES),
    "pc-25gbe": Preset("PCs with an A100 PCIe each on 25 Gbit/s Ethernet", pcs("pc-25gbe", 25), 8, 1, _PC_SOURCES),
    "pc-100gbe": Preset("PCs with an A100 PCIe each on 100 Gbit/s Ethernet", pcs("pc-100gbe", 100), 8, 1, _PC_SOURCES),
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
