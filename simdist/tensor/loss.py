"""Which primitives end a forward pass: cross entropy and mean squared error?

Cross entropy of logits z with target class t: log(sum exp z) - z_t; its gradient is softmax(z) - onehot(t). Fused, since the
two logarithms of the unfused form cost accuracy. The mean over an empty batch is nan, as in torch; its sum is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simdist.errors import ShapeError

from .meta import MetaArray, boxed
from .primitive import Array, Primitive, elements, register

__all__ = ["CROSS_ENTROPY", "MSE_LOSS", "REDUCTIONS"]

REDUCTIONS = ("mean", "sum", "none")


def _check_targets(logits: Array, target: Array) -> None:
    if logits.ndim != 2 or target.shape != logits.shape[:1]:
        raise ShapeError(
            f"cross_entropy: logits must be (rows, classes) and the target one class for each row, got logits {logits.shape} "
            f"and target {target.shape}. Flatten a sequence first: logits.reshape(-1, classes), target.reshape(-1)."
        )
    if target.dtype.kind not in "iu":
        raise TypeError(
            f"cross_entropy: the target holds class numbers, so it must be of integers, got {target.dtype}."
        )


def _no_such_class(logits: Array, target: Array) -> IndexError:
    return IndexError(
        f"cross_entropy: target classes run from {target.min()} to {target.max()}, but the logits have {logits.shape[1]} "
        f"classes: 0 to {logits.shape[1] - 1}."
    )


def _cross_entropy(logits: Array, target: Array, reduction: str) -> tuple[Array, tuple[Any, ...]]:
    _check_targets(logits, target)
    if isinstance(logits, MetaArray) or isinstance(target, MetaArray):
        empty = MetaArray(logits.shape[:1] if reduction == "none" else (), logits.dtype)
        return empty, (MetaArray(logits.shape, logits.dtype), None, target, reduction)
    rows = np.arange(len(target))
    shifted = logits - np.maximum.reduce(logits, axis=1, keepdims=True)
    powers = np.exp(shifted)
    total = np.add.reduce(powers, axis=1, keepdims=True)
    try:
        chosen = shifted[rows, target]
    except IndexError:
        raise _no_such_class(logits, target) from None
    if len(target) and target[target.argmin()] < 0:  # numpy would count from the end
        raise _no_such_class(logits, target)
    losses = np.log(total[:, 0]) - chosen
    powers /= total
    if reduction == "none":
        return losses, (powers, rows, target, reduction)
    total = np.add.reduce(losses)
    return np.asarray(total / (len(target) or math.nan) if reduction == "mean" else total), (
        powers,
        rows,
        target,
        reduction,
    )


def _cross_entropy_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    probabilities, rows, target, reduction = saved
    if isinstance(probabilities, MetaArray):
        return (probabilities.copy(),)
    if reduction == "mean":
        g = g / max(1, len(target))
    column = g[:, None] if reduction == "none" else g
    result = probabilities * column
    result[rows, target] -= g
    return (result,)


def _mse(a: Array, b: Array, reduction: str) -> tuple[Array, tuple[Any, ...]]:
    difference = a - b
    squares = difference * difference
    out = squares if reduction == "none" else boxed(squares.sum())
    if reduction == "mean":
        out = boxed(out / (squares.size or math.nan)).astype(squares.dtype)
    return out, (difference, reduction)


def _mse_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array | None, Array | None]:
    difference, reduction = saved
    factor = g * (2.0 / max(1, difference.size) if reduction == "mean" else 2.0)
    return (
        None if needs[0] is None else difference * factor,
        None if needs[1] is None else difference * -factor,
    )


CROSS_ENTROPY = register(Primitive("cross_entropy", _cross_entropy, _cross_entropy_gradient, elements(10), 0.2))
MSE_LOSS = register(Primitive("mse_loss", _mse, _mse_gradient, elements(3)))
