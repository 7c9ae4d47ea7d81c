"""How are gradients kept small?

Clipping in place, before the optimizer's step: by the norm of all gradients together, or element by element.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from simdist.tensor import Tensor
from simdist.tensor.meta import boxed
from simdist.tensor.observe import current_listener

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def _gradients(parameters: Any) -> list[Any]:
    tensors: Iterable[Tensor] = [parameters] if isinstance(parameters, Tensor) else parameters
    return [t.grad.data for t in tensors if t.grad is not None]


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scale all gradients together so that their norm is at most ``max_norm``.

    Args:
        parameters: tensors, or one tensor; those without gradient are skipped.
        max_norm: the limit.
        norm_type: p of the p-norm; ``inf`` is the largest absolute value.
        error_if_nonfinite: refuse a norm that is NaN or infinite.

    Returns:
        The norm before clipping.

    Raises:
        ValueError: a norm that is not finite, if asked for.
    """
    arrays = _gradients(parameters)
    if not arrays:
        return Tensor(np.zeros((), np.float32))
    total = _norm(arrays, float(norm_type))
    if error_if_nonfinite and not np.isfinite(total):
        raise ValueError(
            f"clip_grad_norm_: the {norm_type}-norm of the gradients is {total}: they cannot be scaled. Look for the first "
            "parameter whose gradient is not finite, or lower the learning rate."
        )
    factor = max_norm / (total + 1e-6)  # torch's constant: no division by zero
    factor = np.minimum(factor, 1.0)
    for array in arrays:
        np.multiply(array, factor, out=array, casting="same_kind")
    _tell("clip_grad_norm_", arrays, 3)
    return Tensor(boxed(total))


def _norm(arrays: list[Any], p: float) -> Any:
    """The norm of the norms of each array, as torch computes it."""
    if p == math.inf:
        largest = np.abs(arrays[0]).max()
        for array in arrays[1:]:
            largest = np.maximum(largest, np.abs(array).max())
        return largest
    if p == 2.0:
        norms = [np.sqrt((a * a).sum()) for a in arrays]
    else:
        norms = [(np.abs(a) ** p).sum() ** (1.0 / p) for a in arrays]
    total = norms[0] ** p
    for norm in norms[1:]:
        total = total + norm**p
    return total ** (1.0 / p)


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Bring every element of every gradient into [-clip_value, clip_value]."""
    arrays = _gradients(parameters)
    for array in arrays:
        np.minimum(array, clip_value, out=array)
        np.maximum(array, -clip_value, out=array)
    _tell("clip_grad_value_", arrays, 2)


def _tell(name: str, arrays: list[Any], flops: int) -> None:
    listener = current_listener()
    if listener is not None and arrays:
        size, nbytes = sum([a.size for a in arrays]), sum([a.nbytes for a in arrays])
        listener.primitive(name, "optimizer", flops * size, 3 * nbytes, arrays[0].dtype, None)
