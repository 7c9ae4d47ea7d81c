"""Which primitives bend: activations, softmax, normalisation, dropout, embedding?

Formulas: GELU is x Phi(x), or with ``approximate="tanh"`` x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel,
arXiv 1606.08415). Softmax subtracts the row's maximum. Layer norm: (x - mean) / sqrt(var + eps) * weight + bias with the biased
variance (Ba et al., arXiv 1607.06450).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simdist.errors import ShapeError

from .meta import MetaArray
from .primitive import Array, Primitive, elements, register
from .special import erfc

__all__ = ["DROPOUT", "EMBEDDING", "GELU", "GELU_TANH", "LAYER_NORM", "LOG_SOFTMAX", "RELU", "SOFTMAX", "TANH"]

_C = math.sqrt(2.0 / math.pi)


def _relu(a: Array) -> tuple[Array, tuple[Array]]:
    out = np.maximum(a, 0)
    return out, (out,)


def _tanh(a: Array) -> tuple[Array, tuple[Array]]:
    out = np.tanh(a)
    return out, (out,)


def _gelu(a: Array) -> tuple[Array, tuple[Array]]:
    return a * (0.5 * erfc(a * -math.sqrt(0.5))), (a,)


def _gelu_gradient(g: Array, saved: tuple[Array], needs: Sequence[Any]) -> tuple[Array]:
    a = saved[0]
    density = np.exp(-0.5 * a * a) * (1.0 / math.sqrt(2.0 * math.pi))
    return (g * (0.5 * erfc(a * -math.sqrt(0.5)) + a * density),)


def _gelu_tanh(a: Array) -> tuple[Array, tuple[Array, Array]]:
    bend = np.tanh(_C * (a + 0.044715 * a * a * a))
    return 0.5 * a * (1.0 + bend), (a, bend)


def _gelu_tanh_gradient(g: Array, saved: tuple[Array, Array], needs: Sequence[Any]) -> tuple[Array]:
    a, bend = saved
    inner = _C * (1.0 + 3 * 0.044715 * a * a)
    return (g * (0.5 * (1.0 + bend) + 0.5 * a * (1.0 - bend * bend) * inner),)


def _softmax(a: Array, axis: int) -> tuple[Array, tuple[Any, ...]]:
    out = np.exp(a - a.max(axis=axis, keepdims=True))
    out /= out.sum(axis=axis, keepdims=True)
    return out, (out, axis)


def _softmax_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    out, axis = saved
    return (out * (g - (g * out).sum(axis=axis, keepdims=True)),)


def _log_softmax(a: Array, axis: int) -> tuple[Array, tuple[Any, ...]]:
    shifted = a - a.max(axis=axis, keepdims=True)
    out = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return out, (out, axis)


def _log_softmax_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    out, axis = saved
    return (g - np.exp(out) * g.sum(axis=axis, keepdims=True),)


def _layer_norm(x: Array, weight: Array, bias: Array, eps: float) -> tuple[Array, tuple[Any, ...]]:
    axes = tuple(range(x.ndim - weight.ndim, x.ndim))
    if weight.ndim > x.ndim or x.shape[x.ndim - weight.ndim :] != weight.shape:
        raise ShapeError(f"layer_norm: the input {x.shape} must end with the normalized shape {weight.shape}.")
    count = weight.size
    centred = x - x.sum(axis=axes, keepdims=True) / count
    inverse = 1.0 / np.sqrt((centred * centred).sum(axis=axes, keepdims=True) / count + eps)
    normal = centred * inverse
    return normal * weight + bias, (normal, inverse, weight)


def _layer_norm_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array | None, ...]:
    normal, inverse, weight = saved
    rows = tuple(range(g.ndim - weight.ndim))
    axes = tuple(range(g.ndim - weight.ndim, g.ndim))
    dx = None
    if needs[0] is not None:
        dn = g * weight
        along = (dn * normal).sum(axis=axes, keepdims=True) / weight.size
        dx = (dn - dn.sum(axis=axes, keepdims=True) / weight.size - normal * along) * inverse
    dw = None if needs[1] is None else (g * normal).sum(axis=rows)
    db = None if needs[2] is None else g.sum(axis=rows)
    return dx, dw, db


def _no_such_row(index: Array, num_rows: int) -> IndexError:
    wrong = (index < 0) | (index >= num_rows)
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    number = int(index[place])
    where = f" at position {place[0] if len(place) == 1 else place}" if place else ""
    more = f" ({wrong.sum()} of the {index.size} indices are wrong)" if wrong.sum() > 1 else ""
    advice = (
        f"Build it with num_embeddings={int(index.max()) + 1} or more, or look where the index comes from."
        if number >= 0
        else "A negative index does not count from the end: if it marks padding, replace it first."
    )
    rows = f"{num_rows} rows, 0 to {num_rows - 1}" if num_rows else "no rows"
    return IndexError(f"embedding: index {number}{where}{more}, but the table has {rows}. {advice}")


def _embedding(weight: Array, index: Array) -> tuple[Array, tuple[Any, ...]]:
    if isinstance(weight, MetaArray):
        return MetaArray((*index.shape, weight.shape[1]), weight.dtype), (index, weight.shape)
    if isinstance(index, MetaArray):
        return MetaArray((*index.shape, weight.shape[1]), weight.dtype), (index, weight.shape)
    if index.size and (index.min() < 0 or index.max() >= weight.shape[0]):
        raise _no_such_row(index, weight.shape[0])
    return weight[index], (index, weight.shape)


def _embedding_gradient(g: Array, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Array]:
    index, shape = saved
    if isinstance(g, MetaArray) or isinstance(index, MetaArray):
        return (MetaArray(shape, g.dtype),)
    result = np.zeros(shape, g.dtype)
    np.add.at(result, index, g)
    return (result,)


def _dropout(a: Array, keep: Array, scale: float) -> tuple[Array, tuple[Any, ...]]:
    factor = keep.astype(a.dtype) * scale
    return a * factor, (factor,)


RELU = register(Primitive("relu", _relu, lambda g, saved, needs: (g * (saved[0] > 0),)))
TANH = register(
    Primitive("tanh", _tanh, lambda g, saved, needs: (g * (1 - saved[0] * saved[0]),), elements(8), gradient_flops=0.5)
)
GELU = register(Primitive("gelu", _gelu, _gelu_gradient, elements(20)))
GELU_TANH = register(Primitive("gelu_tanh", _gelu_tanh, _gelu_tanh_gradient, elements(16)))
SOFTMAX = register(Primitive("softmax", _softmax, _softmax_gradient, elements(10), gradient_flops=0.4))
LOG_SOFTMAX = register(Primitive("log_softmax", _log_softmax, _log_softmax_gradient, elements(10)))
LAYER_NORM = register(Primitive("layer_norm", _layer_norm, _layer_norm_gradient, elements(8), gradient_flops=1.5))
EMBEDDING = register(Primitive("embedding", _embedding, _embedding_gradient, elements(0)))
DROPOUT = register(Primitive("dropout", _dropout, lambda g, saved, needs: (g * saved[0],)))
