"""torch.distributed's names, on every backend.

``group`` (who belongs together) · ``lifetime`` and ``rendezvous`` (how the default group begins and ends) · ``store``
(notes for each other) · ``reductions``, ``copies`` and ``exchange`` (what a group does together) · ``coalesced``
(several arrays as one) · ``spellings`` (other names) · ``facts`` (what else may be asked) · ``objects`` ·
``monitored`` (who is missing) · ``point_to_point`` and ``batch`` (how two ranks talk) · ``issue`` (how a call is
made) · ``backend`` (its names, and a transport of one's own) · ``work`` (when an asynchronous operation is complete)
· ``buffer`` and ``array_list`` (how arrays travel) · ``bucket``, ``reducer``, ``ddp`` (data parallel training).
"""

from datetime import timedelta

from simdist.comm.reduce_op import ReduceOp
from simdist.comm.reduce_op import make_premul_sum as _make_nccl_premul_sum
from simdist.errors import DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError

from .backend import Backend
from .batch import P2POp, batch_isend_irecv
from .coalesced import all_gather_coalesced, all_reduce_coalesced
from .copies import all_gather, all_gather_into_tensor, barrier, broadcast, gather, scatter
from .exchange import all_to_all, all_to_all_single
from .facts import (
    get_backend_config,
    get_default_backend_for_device,
    get_node_local_rank,
    get_pg_count,
    is_backend_available,
    is_gloo_available,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    supports_complex,
)
from .group import (
    GroupMember,
    ProcessGroup,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    new_group,
)
from .lifetime import destroy_process_group, init_process_group, is_available, is_initialized
from .monitored import monitored_barrier
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .point_to_point import irecv, isend, recv, send
from .reductions import all_reduce, reduce, reduce_scatter, reduce_scatter_tensor
from .rendezvous import register_rendezvous_handler, rendezvous
from .spellings import _all_gather_base, _reduce_scatter_base, all_gather_single, reduce_scatter_single
from .store import FileStore, HashStore, PrefixStore, Store, TCPStore
from .subgroups import new_subgroups, new_subgroups_by_enumeration, split_group
from .work import Work

__all__ = [
    "Backend", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore", "GroupMember",
    "HashStore", "P2POp", "PrefixStore", "ProcessGroup", "QueueEmptyError", "ReduceOp", "Store", "TCPStore", "Work",
    "_all_gather_base", "_make_nccl_premul_sum", "_reduce_scatter_base", "all_gather", "all_gather_coalesced",
    "all_gather_into_tensor", "all_gather_object", "all_gather_single", "all_reduce", "all_reduce_coalesced",
    "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list",
    "destroy_process_group", "gather", "gather_object", "get_backend", "get_backend_config",
    "get_default_backend_for_device", "get_global_rank", "get_group_rank", "get_node_local_rank", "get_pg_count",
    "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group", "irecv", "is_available",
    "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
    "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group",
    "new_subgroups", "new_subgroups_by_enumeration", "recv", "recv_object_list", "reduce", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_tensor", "register_rendezvous_handler", "rendezvous", "scatter",
    "scatter_object_list", "send", "send_object_list", "split_group", "supports_complex", "timedelta",
]  # fmt: skip
