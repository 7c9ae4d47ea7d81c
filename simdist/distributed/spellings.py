"""Which other names do some collectives have in torch?

Older and newer ones for the same thing; the call goes on under its usual name, which is what errors and traces say.
"""

from __future__ import annotations

from typing import Any

from simdist.comm.reduce_op import ReduceOp

from .copies import all_gather_into_tensor
from .group import ProcessGroup
from .reductions import reduce_scatter_tensor
from .work import Work

__all__ = ["_all_gather_base", "_reduce_scatter_base", "all_gather_single", "reduce_scatter_single"]


def all_gather_single(
    output_tensor: Any, input_tensor: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """The same as ``all_gather_into_tensor``."""
    return all_gather_into_tensor(output_tensor, input_tensor, group, async_op)


def reduce_scatter_single(
    output: Any, input: Any, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """The same as ``reduce_scatter_tensor``."""
    return reduce_scatter_tensor(output, input, op, group, async_op)


def _all_gather_base(
    output_tensor: Any, input_tensor: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """The same as ``all_gather_into_tensor``, as torch called it first."""
    return all_gather_into_tensor(output_tensor, input_tensor, group, async_op)


def _reduce_scatter_base(
    output: Any, input: Any, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """The same as ``reduce_scatter_tensor``, as torch called it first."""
    return reduce_scatter_tensor(output, input, op, group, async_op)
