"""torch.nn.parallel's names."""

from simdist.distributed.ddp import DistributedDataParallel

__all__ = ["DistributedDataParallel"]
