"""Which primitives make fewer elements out of many?

Sum, mean and maximum over dimensions. Sums are numpy's pairwise summation: the same order of additions every time. The mean of
no elements is nan, as in torch; the maximum of none does not exist.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .meta import boxed
from .primitive import Array, Primitive, register

__all__ = ["MAX", "MEAN", "SUM"]

Axes = tuple[int, ...]


def _kept(shape: tuple[int, ...], axes: Axes) -> tuple[int, ...]:
    return tuple([1 if i in axes else n for i, n in enumerate(shape)])


def _sum(a: Array, axes: Axes, keepdim: bool) -> tuple[Array, tuple[Any, ...]]:
    return boxed(a.sum(axis=axes, keepdims=keepdim)), (a.shape, axes)


def _sum_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    shape, axes = saved
    return (np.broadcast_to(g.reshape(_kept(shape, axes)), shape),)


def _count(shape: tuple[int, ...], axes: Axes) -> int:
    count = 1
    for i in axes:
        count *= shape[i]
    return count


def _mean(a: Array, axes: Axes, keepdim: bool) -> tuple[Array, tuple[Any, ...]]:
    divisor = _count(a.shape, axes) or math.nan
    return boxed(a.sum(axis=axes, keepdims=keepdim) / divisor).astype(a.dtype), (a.shape, axes)


def _mean_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    shape, axes = saved
    return (np.broadcast_to(g.reshape(_kept(shape, axes)) / max(1, _count(shape, axes)), shape),)


def _max(a: Array, axes: Axes, keepdim: bool) -> tuple[Array, tuple[Any, ...]]:
    out = boxed(a.max(axis=axes, keepdims=keepdim))
    return out, (a, out, axes)


def _max_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    """Equal maxima share the gradient, as in torch's ``amax``."""
    a, out, axes = saved
    kept = _kept(a.shape, axes)
    largest = a == out.reshape(kept)
    return (largest * (g.reshape(kept) / largest.sum(axis=axes, keepdims=True).astype(g.dtype)),)


SUM = register(Primitive("sum", _sum, _sum_gradient))
MEAN = register(Primitive("mean", _mean, _mean_gradient))
MAX = register(Primitive("max", _max, _max_gradient))
