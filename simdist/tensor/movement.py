"""Which primitives move elements without computing anything?

Views (reshape, permute, basic indexing, split) share memory with their input and cost nothing; concatenation and indexing with
arrays copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .meta import MetaArray, boxed
from .primitive import Array, Primitive, elements, register
from .shape import reshaped, unbroadcast

__all__ = ["CONCATENATE", "EXPAND", "GETITEM", "PERMUTE", "RESHAPE", "SELECT", "STACK", "is_basic_index"]


def _reshape(a: Array, shape: tuple[int, ...]) -> tuple[Array, tuple[Any, ...]]:
    return a.reshape(reshaped(a.size, a.shape, shape)), (a.shape,)


def _permute_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    inverse = [0] * len(saved[0])
    for new, old in enumerate(saved[0]):
        inverse[old] = new
    return (g.transpose(inverse),)


def _zeros(shape: tuple[int, ...], like: Array) -> Array:
    return MetaArray(shape, like.dtype) if isinstance(like, MetaArray) else np.zeros(shape, like.dtype)


def is_basic_index(key: Any) -> bool:
    """Whether numpy answers with a view: integers, slices, None, Ellipsis and tuples of them."""
    keys = key if isinstance(key, tuple) else (key,)
    return all(k is None or k is Ellipsis or isinstance(k, (int, slice, np.integer)) for k in keys)


def _getitem(a: Array, key: Any) -> tuple[Array, tuple[Any, ...]]:
    return boxed(a[key]), (a.shape, key)


def _getitem_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    shape, key = saved
    result = _zeros(shape, g)
    result[key] = g
    return (result,)


def _select_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    shape, key = saved
    result = _zeros(shape, g)
    if not isinstance(result, MetaArray):
        np.add.at(result, key, g)  # an element that was taken twice gets both gradients
    return (result,)


def _concatenate(*arrays_and_axis: Any) -> tuple[Array, tuple[Any, ...]]:
    *arrays, axis = arrays_and_axis
    return np.concatenate(arrays, axis=axis), ([a.shape[axis] for a in arrays], axis)


def _concatenate_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> list[Array]:
    sizes, axis = saved
    parts, start = [], 0
    before = (slice(None),) * (axis % g.ndim)
    for size in sizes:
        parts.append(g[(*before, slice(start, start + size))])
        start += size
    return parts


def _stack(*arrays_and_axis: Any) -> tuple[Array, tuple[Any, ...]]:
    *arrays, axis = arrays_and_axis
    return np.stack(arrays, axis=axis), (len(arrays), axis)


def _stack_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> list[Array]:
    count, axis = saved
    before = (slice(None),) * (axis % g.ndim)
    return [g[(*before, i)] for i in range(count)]


RESHAPE = register(
    Primitive("reshape", _reshape, lambda g, saved, needs: (g.reshape(saved[0]),), elements(0), is_view=True)
)
PERMUTE = register(
    Primitive("permute", lambda a, axes: (a.transpose(axes), (axes,)), _permute_gradient, elements(0), is_view=True)
)
GETITEM = register(Primitive("getitem", _getitem, _getitem_gradient, elements(0), is_view=True))
EXPAND = register(
    Primitive(
        "expand",
        lambda a, shape: (np.broadcast_to(a, shape), (a.shape,)),
        lambda g, saved, needs: (unbroadcast(g, saved[0]),),
        elements(0),
        is_view=True,
    )
)
SELECT = register(Primitive("select", _getitem, _select_gradient, elements(0)))
CONCATENATE = register(Primitive("cat", _concatenate, _concatenate_gradient, elements(0)))
STACK = register(Primitive("stack", _stack, _stack_gradient, elements(0)))
