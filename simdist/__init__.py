"""simdist: run distributed training without a cluster, and understand it.

One SPMD function in torch.distributed's words runs on simulated machines under a simulated clock, and on real
processes with the same bits.

    run = sd.run(train, world_size=8, cluster="dgx-a100")      # simulated
    real = sd.run(train, world_size=4, backend="process")      # real
"""

from simdist import collectives, data, distributed, models, nn, optim, plot, units
from simdist.backends import register_backend
from simdist.clock import compute, current_time, manual_seed, sleep
from simdist.cluster import Accelerator, Cluster, Link, Node, clusters
from simdist.compare import compare
from simdist.errors import SimdistError
from simdist.launch import run, speedup
from simdist.result import Run, load_run
from simdist.tensor import (
    Tensor,
    arange,
    cat,
    enable_grad,
    is_grad_enabled,
    no_grad,
    ones,
    randn,
    stack,
    tensor,
    zeros,
)

__all__ = [
    "Accelerator", "Cluster", "Link", "Node", "Run", "SimdistError", "Tensor", "arange", "cat", "clusters",
    "collectives", "compare", "compute", "current_time", "data", "distributed", "enable_grad", "is_grad_enabled",
    "load_run", "manual_seed", "models", "nn", "no_grad", "ones", "optim", "plot", "randn", "register_backend",
    "run", "sleep", "speedup", "stack", "tensor", "units", "zeros",
]  # fmt: skip
