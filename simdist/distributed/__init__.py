"""torch.distributed's names, on every backend.

``group`` (who belongs together) · ``reductions`` and ``copies`` (what a group does together) · ``point_to_point``
(how two ranks talk) · ``issue`` (how a call is made) · ``work`` (when an asynchronous operation is complete) ·
``buffer`` and ``array_list`` (how arrays travel) · ``bucket``, ``reducer``, ``ddp`` (data parallel training).
"""

from simdist.comm.reduce_op import ReduceOp
from simdist.errors import DistBackendError, DistError

from .copies import all_gather, all_gather_into_tensor, barrier, broadcast, gather, scatter
from .group import (
    GroupMember,
    ProcessGroup,
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_initialized,
    new_group,
)
from .point_to_point import irecv, isend, recv, send
from .reductions import all_reduce, reduce, reduce_scatter, reduce_scatter_tensor
from .work import Work

__all__ = [
    "DistBackendError", "DistError", "GroupMember", "ProcessGroup", "ReduceOp", "Work", "all_gather",
    "all_gather_into_tensor", "all_reduce", "barrier", "broadcast", "destroy_process_group", "gather", "get_backend",
    "get_global_rank", "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group",
    "irecv", "is_available", "is_initialized", "isend", "new_group", "recv", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "scatter", "send",
]  # fmt: skip
