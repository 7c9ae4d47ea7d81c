"""What else may a script for torch ask?

Which backends there are, and where the current rank is. The names ``gloo`` and ``nccl`` are accepted wherever a backend is named:
``gloo`` counts as available, since its semantics are simdist's; ``nccl`` and others that need devices do not.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from simdist.backends import context
from simdist.backends.registry import BACKENDS
from simdist.comm.reduce_op import PremulSum, ReduceOp
from simdist.errors import GroupError

from .group import ProcessGroup, default_group, resolve

__all__ = [
    "get_backend_config", "get_default_backend_for_device", "get_node_local_rank", "get_pg_count", "is_backend_available",
    "is_gloo_available", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available",
    "is_xccl_available", "supports_complex",
]  # fmt: skip


def is_backend_available(backend: str) -> bool:
    """Whether a run can be carried by the backend of that name."""
    name = backend.lower()
    return is_mpi_available() if name == "mpi" else name == "gloo" or name in BACKENDS or backend in BACKENDS


def is_gloo_available() -> bool:
    """True: what gloo promises holds on every backend."""
    return True


def is_mpi_available() -> bool:
    """Whether ``mpi4py`` is installed."""
    return find_spec("mpi4py") is not None


def is_nccl_available() -> bool:
    """False: there are no real devices."""
    return False


def is_ucc_available() -> bool:
    """False."""
    return False


def is_xccl_available() -> bool:
    """False."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether torch's elastic launcher has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def supports_complex(reduceOp: ReduceOp | PremulSum) -> bool:
    """Whether complex numbers can be reduced so."""
    return isinstance(reduceOp, PremulSum) or reduceOp in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PREMUL_SUM)


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """Which backend serves which device: ``"cpu:sim"``."""
    return f"cpu:{resolve(group, 'get_backend_config').world.backend}"


def get_default_backend_for_device(device: Any) -> str:
    """The backend of the run, whatever the device (outside a run ``"sim"``, which ``sd.run`` takes if nothing is said)."""
    world = context.current()
    return "sim" if world is None else world.backend


def get_pg_count() -> int:
    """How many process groups the current rank has, the default one included."""
    world = context.require("get_pg_count")
    default_group(world)
    made: list[ProcessGroup] = world.state.get("made groups", [])
    return 1 + len([group for group in made if group.rank() >= 0])


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """How many ranks before the current one are on its node.

    On real processes the launcher's variable ``LOCAL_RANK`` says it, if it is set; else the description of the cluster does.

    Args:
        fallback_rank: the answer if neither is there.

    Raises:
        GroupError: nothing is known of it, and there is no ``fallback_rank``.
    """
    world = context.require("get_node_local_rank")
    default_group(world)
    if world.commons is None and "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    cluster = world.chooser.cluster
    if cluster is not None:
        node = cluster.node_of(world.rank)
        return sum(cluster.node_of(rank) == node for rank in range(world.rank))
    if fallback_rank is None:
        raise GroupError(
            f"rank {world.rank}: get_node_local_rank(): nothing says which ranks are on one node. Give sd.run(cluster=...), set "
            "the environment variable LOCAL_RANK, or give fallback_rank=."
        )
    return int(fallback_rank)
