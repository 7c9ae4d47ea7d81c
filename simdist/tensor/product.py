"""Which primitives are matrix products?

``matmul`` (batched, broadcasting), the fused ``linear`` (x W^T + b in one node) and fused causal attention. They tell their
(m, n, k), since how much of its peak an accelerator reaches depends on the size.

The gradient of C = A B is dA = dC B^T, dB = A^T dC: one product forward, two backward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simdist.errors import ShapeError

from .meta import boxed
from .primitive import Array, Primitive, Work, elements, register
from .shape import matmul_lesson, unbroadcast

__all__ = ["ATTENTION", "LINEAR", "LINEAR_NO_BIAS", "MATMUL"]


def _work(m: int, n: int, k: int, itemsize: int) -> Work:
    return Work(2.0 * m * n * k, itemsize * (m * k + k * n + m * n), (m, n, k))


def _matmul(a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
    lesson = matmul_lesson("matmul", a.shape, b.shape)
    if lesson is not None:
        raise ShapeError(lesson)
    return boxed(np.matmul(a, b)), (a, b)


def _matmul_gradient(g: Array, saved: tuple[Array, Array], needs: Sequence[Any]) -> tuple[Array | None, Array | None]:
    a, b = saved
    wide_a = a if a.ndim > 1 else a.reshape(1, -1)
    wide_b = b if b.ndim > 1 else b.reshape(-1, 1)
    if a.ndim == 1 or b.ndim == 1:
        rows = (wide_a.shape[-2],) if a.ndim == 1 else a.shape[-2:-1]
        columns = (1,) if b.ndim == 1 else b.shape[-1:]
        g = g.reshape((*g.shape[: g.ndim - (a.ndim > 1) - (b.ndim > 1)], *rows, *columns))
    da = db = None
    if needs[0] is not None:
        da = unbroadcast(np.matmul(g, wide_b.swapaxes(-1, -2)), wide_a.shape).reshape(a.shape)
    if needs[1] is not None:
        db = unbroadcast(np.matmul(wide_a.swapaxes(-1, -2), g), wide_b.shape).reshape(b.shape)
    return da, db


def _matmul_products(out: Array, arrays: Sequence[Array], needs: Sequence[Any] | None) -> list[Work]:
    a, b = arrays
    k = a.shape[-1]
    n = b.shape[-1] if b.ndim > 1 else 1
    m = out.size // max(n, 1)
    size = out.dtype.itemsize
    if needs is None:
        # a batch of products reads the whole of b, not one slice of it
        return [Work(2.0 * m * n * k, size * (a.size + b.size + out.size), (m, n, k))]
    sides = ((m, k, n), (k, n, m))
    return [
        Work(2.0 * m * n * k, size * (a.size + b.size + out.size), side)
        for side, need in zip(sides, needs, strict=True)
        if need is not None
    ]


def _linear(bias: Array, weight: Array, x: Array) -> tuple[Array, tuple[Array, Array]]:
    out = _rows_product(x, weight)
    out += bias
    return out, (weight, x)


def _linear_no_bias(weight: Array, x: Array) -> tuple[Array, tuple[Array, Array]]:
    return _rows_product(x, weight), (weight, x)


def _rows_product(x: Array, weight: Array) -> Array:
    """X W^T for all rows of x."""
    shape, (outputs, inputs) = x.shape, weight.shape
    if not shape or shape[-1] != inputs:
        raise ShapeError(
            f"linear: the input {shape} must end with {inputs}, the weight's input size (weight is "
            f"{weight.shape}: output, input). Reshape the input, or build the layer with in_features={shape[-1:]}."
        )
    if len(shape) == 2:
        return x @ weight.T
    # one product of all rows is faster than a batch of small ones, and the same numbers whatever the batch looks like
    return (x.reshape(-1, inputs) @ weight.T).reshape((*shape[:-1], outputs))


def _linear_gradient(g: Array, saved: tuple[Array, Array], needs: Sequence[Any]) -> tuple[Array | None, ...]:
    weight, x = saved
    rows, x_rows = (g, x) if x.ndim == 2 else (g.reshape(-1, g.shape[-1]), x.reshape(-1, x.shape[-1]))
    db = dw = dx = None
    if needs[0] is not None:
        db = np.add.reduce(rows, axis=0)
    if needs[1] is not None:
        dw = rows.T @ x_rows
    if needs[2] is not None:
        dx = rows @ weight
        dx = dx if x.ndim == 2 else dx.reshape(x.shape)
    return db, dw, dx


def _linear_no_bias_gradient(g: Array, saved: tuple[Array, Array], needs: Sequence[Any]) -> tuple[Array | None, ...]:
    return _linear_gradient(g, saved, (None, *needs))[1:]


def _linear_products(out: Array, arrays: Sequence[Array], needs: Sequence[Any] | None) -> list[Work]:
    n, k = arrays[-2].shape
    m = out.size // max(n, 1)
    size = out.dtype.itemsize
    if needs is None:
        return [_work(m, n, k, size)]
    products = [_work(n, k, m, size)] if needs[-2] is not None else []
    products += [_work(m, k, n, size)] if needs[-1] is not None else []
    if len(needs) == 3 and needs[0] is not None:
        products.append(Work(float(out.size), out.nbytes + arrays[0].nbytes))
    return products


def _bias_flops(out: Array, arrays: Sequence[Array]) -> float:
    return float(out.size)


MATMUL = register(Primitive("matmul", _matmul, _matmul_gradient, elements(0), products=_matmul_products))
LINEAR = register(Primitive("linear", _linear, _linear_gradient, _bias_flops, products=_linear_products))
LINEAR_NO_BIAS = register(
    Primitive("linear_no_bias", _linear_no_bias, _linear_no_bias_gradient, elements(0), products=_linear_products)
)


def _future(length_q: int, length_k: int) -> Any:
    """True where a query may not look: at keys after it."""
    return np.triu(np.ones((length_q, length_k), dtype=np.bool_), 1 + length_k - length_q)


def _attention(q: Array, k: Array, v: Array, is_causal: bool, scale: float) -> tuple[Array, tuple[Any, ...]]:
    """softmax(q k^T scale) v, with rows of the softmax shifted by their maximum (no overflow)."""
    scores = np.matmul(q, k.swapaxes(-1, -2)) * scale
    if is_causal:
        scores = np.where(_future(q.shape[-2], k.shape[-2]), np.asarray(-np.inf, q.dtype), scores)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return np.matmul(weights, v), (q, k, v, weights, scale)


def _attention_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array | None, ...]:
    q, k, v, weights, scale = saved
    dv = None if needs[2] is None else np.matmul(weights.swapaxes(-1, -2), g)
    if needs[0] is None and needs[1] is None:
        return None, None, dv
    dw = np.matmul(g, v.swapaxes(-1, -2))
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True)) * scale
    dq = None if needs[0] is None else np.matmul(ds, k)
    dk = None if needs[1] is None else np.matmul(ds.swapaxes(-1, -2), q)
    return dq, dk, dv


def _attention_products(out: Array, arrays: Sequence[Array], needs: Sequence[Any] | None) -> list[Work]:
    """Two products forward and twice as many backward; what is masked is computed too, so it is counted."""
    q, k, v = arrays
    rows, keys = math.prod(q.shape[:-1]), k.shape[-2]
    size, head, wide = out.dtype.itemsize, q.shape[-1], v.shape[-1]
    scores = rows * keys
    one = Work(2.0 * scores * head, size * (q.size + k.size + scores), (rows, keys, head))
    two = Work(2.0 * scores * wide, size * (scores + v.size + out.size), (rows, wide, keys))
    return [one, two] if needs is None else [two, two, one, one]


ATTENTION = register(
    Primitive(
        "scaled_dot_product_attention",
        _attention,
        _attention_gradient,
        lambda out, arrays: 8.0 * (arrays[0].size // max(arrays[0].shape[-1], 1)) * arrays[1].shape[-2],
        products=_attention_products,
    )
)
