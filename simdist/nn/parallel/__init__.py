"""torch.nn.parallel's names."""

from ...distributed.ddp import DistributedDataParallel

__all__ = ["DistributedDataParallel"]
