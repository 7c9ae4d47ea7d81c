"""Where does a number of a preset come from?

The short names under which ``presets`` cites. A number that nobody published is a *measurement* or an *assumption*, and its
text begins with that word.
"""

from __future__ import annotations

__all__ = ["SOURCES"]

SOURCES: dict[str, str] = {
    "bekman": "S. Bekman, Machine Learning Engineering (github.com/stas00/ml-engineering, 2026-08-22), accelerator and network",
    "nccl": "NCCL src/graph/tuning.cc, table of hardware latencies, ring, low-latency protocol (master of 2026-06-11)",
    "sysrqmts": "sysrqmts.com, comparison of A100 PCIe and V100 PCIe (GPU database figures)",
    "tf32": "NVIDIA A100 and H100 data sheets: TF32, dense (156 and 495 TFLOP/s)",
    "v100": "NVIDIA V100 white paper as quoted at maosong.website/p/nvidia-gpu-specs",
    "dgx1": "NVIDIA DGX-1 with V100 description (iitr.ac.in/dgx; leslivresblancs.fr): 25 GB/s a link, four 100 Gbit/s cards",
    "dgx1-wires": "NCCL topology file of a DGX-1 V100 in github.com/NVIDIA/nccl/issues/671 (links of accelerators 0 and 1); "
    "assumption for the others: six links each, 2-3 double, the second four as the first",
    "megatron": "Narayanan et al., SC21, arXiv:2104.04473: Selene's nodes have 8 HDR InfiniBand cards",
    "hotchips": "Huawei at Hot Chips 2019 (vengineer.hatenablog.com/entry/2019/09/06/070000; besthub.dev)",
    "linley": "Linley Newsletter, October 8, 2019: 32 GB of HBM2 in four stacks",
    "loopback": "measurement: one way over loopback TCP, two processes, x86-64 Linux: 32 us for 8 bytes, 5.2 GB/s at 8 MB",
    "numpy": "measurement: numpy 2.4 with OpenBLAS, one thread of an x86-64 server core (AMD EPYC)",
    "launch": "assumption: a few microseconds to start a kernel (torchedup.dev/problems/kernel-launch-overhead), 5 us taken",
    "curve": "assumption: s / (s + s_half), s_half when half of the multiprocessors (A100 108, H100 132, B200 taken as "
    "H100) have a 128 x 128 tile; no published rate over size",
    "klockwood": "glennklockwood.com/garden/processors/h100, matrix units (H200 the same); 132 multiprocessors",
}
"""Short name -> citation."""
