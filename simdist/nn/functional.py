"""Which functions do layers consist of, under torch's names?

Functions of tensors (arrays are taken too) without state. What is computed and its gradient is in the rows of ``tensor``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simdist.errors import ShapeError, UnknownNameError
from simdist.tensor import Tensor, apply, as_tensor, random
from simdist.tensor import activation as rows
from simdist.tensor import loss as losses
from simdist.tensor.checkpoint import remembered
from simdist.tensor.meta import MetaArray
from simdist.tensor.product import ATTENTION, LINEAR, LINEAR_NO_BIAS

__all__ = [
    "GELUS", "cross_entropy", "dropout", "embedding", "gelu", "layer_norm", "linear", "log_softmax", "mse_loss", "probability",
    "relu", "scaled_dot_product_attention", "softmax", "tanh",
]  # fmt: skip

GELUS = {"none": rows.GELU, "tanh": rows.GELU_TANH}
"""Approximations of gelu by name."""


def linear(input: Any, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Input @ weight.T + bias: (.., in) -> (.., out), weight (out, in)."""
    x = input if isinstance(input, Tensor) else as_tensor(input)
    return apply(LINEAR_NO_BIAS, (weight, x)) if bias is None else apply(LINEAR, (bias, weight, x))


def relu(input: Any) -> Tensor:
    """Each element, or 0 if it is negative."""
    return apply(rows.RELU, (as_tensor(input),))


def tanh(input: Any) -> Tensor:
    """Hyperbolic tangent."""
    return apply(rows.TANH, (as_tensor(input),))


def gelu(input: Any, approximate: str = "none") -> Tensor:
    """X Phi(x); ``approximate="tanh"`` takes the formula with tanh.

    Raises:
        UnknownNameError: another value of ``approximate``.
    """
    row = GELUS.get(approximate)
    if row is None:
        raise UnknownNameError("approximation of gelu", approximate, GELUS)
    return apply(row, (as_tensor(input),))


def softmax(input: Any, dim: int) -> Tensor:
    """Positive numbers that sum to 1 along ``dim``."""
    return as_tensor(input).softmax(dim)


def log_softmax(input: Any, dim: int) -> Tensor:
    """The logarithm of softmax."""
    return as_tensor(input).log_softmax(dim)


def _reduction(name: str) -> str:
    if name not in losses.REDUCTIONS:
        raise UnknownNameError("reduction", name, losses.REDUCTIONS)
    return name


def cross_entropy(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Minus the log-probability of the right class.

    Args:
        input: logits (rows, classes).
        target: class numbers (rows,), integers.
        reduction: ``"mean"``, ``"sum"`` or ``"none"`` (one number for each row).

    Raises:
        ShapeError: other shapes.
        IndexError: a class that does not exist.
        TypeError: a target that is not of integers.
    """
    classes = target.data if isinstance(target, Tensor) else _indices(target)
    return apply(losses.CROSS_ENTROPY, (as_tensor(input),), classes, _reduction(reduction))


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """The squared difference.

    Raises:
        ShapeError: different shapes (torch broadcasts with a warning; it is nearly always a mistake).
    """
    a, b = as_tensor(input), as_tensor(target)
    if a.shape != b.shape:
        raise ShapeError(
            f"mse_loss: the input has shape {a.shape} and the target {b.shape}: they must be equal. Reshape one of them; "
            "(n, 1) against (n,) would compare every pair."
        )
    return apply(losses.MSE_LOSS, (a, b), _reduction(reduction))


def layer_norm(
    input: Any,
    normalized_shape: tuple[int, ...],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then weight and bias."""
    x = as_tensor(input)
    scale = weight if weight is not None else Tensor(_full(normalized_shape, x, 1.0))
    shift = bias if bias is not None else Tensor(_full(normalized_shape, x, 0.0))
    return apply(rows.LAYER_NORM, (x, scale, shift), eps)


def _full(shape: tuple[int, ...], like: Tensor, value: float) -> Any:
    return MetaArray(shape, like.dtype) if like.is_meta else np.full(shape, value, like.dtype)


def _indices(value: Any) -> Any:
    return value if isinstance(value, (np.ndarray, MetaArray)) else np.asarray(value)


def embedding(input: Any, weight: Tensor) -> Tensor:
    """Rows of a table: indices (..) -> (.., dim), weight (rows, dim).

    Raises:
        IndexError: a row that does not exist (a negative index does not count from the end, as in torch).
        TypeError: indices that are not integers.
    """
    index = input.data if isinstance(input, Tensor) else _indices(input)
    if index.dtype.kind not in "iu":
        raise TypeError(f"embedding: indices must be integers, got {index.dtype}: say x.long().")
    return apply(rows.EMBEDDING, (weight,), index)


def probability(p: float) -> float:
    """``p``, if dropout can take it.

    Raises:
        ValueError: it is not in [0, 1].
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(
            f"dropout: p is the probability that an element becomes 0, so it must be from 0 to 1, got {p!r}."
        )
    return p


def dropout(
    input: Any,
    p: float = 0.5,
    training: bool = True,
    address: str | None = None,
    start: int = 0,
    seed: int | None = None,
) -> Tensor:
    """Set elements to 0 with probability ``p`` and divide the others by 1 - p (``p=1``: all become 0).

    Args:
        input: any shape.
        p: probability, 0 <= p <= 1.
        training: False does nothing.
        address: name of the mask; equal addresses give equal masks. None: another mask at each call, the same ones again after
            ``sd.manual_seed``, as in torch.
        start: index of the first element: a shard passes its own, so its mask is the slice of the whole.
        seed: None for the current one.

    Raises:
        ValueError: no such probability.
    """
    probability(p)
    x = as_tensor(input)
    if not training or p == 0.0:
        return x
    if address is None:
        seed, address = remembered(_next_mask) if seed is None else (seed, "dropout")
    if x.is_meta:
        keep: Any = MetaArray(x.shape, np.bool_)
    else:
        numbers = random.uniform(random.current_seed() if seed is None else seed, address, start, x.numel())
        keep = (numbers >= p).reshape(x.shape)
    return apply(rows.DROPOUT, (x,), keep, 1.0 / (1.0 - p) if p < 1.0 else 0.0)


def _next_mask() -> tuple[int, str]:
    generator = random.current_generator()
    return generator.seed, f"dropout/{generator.next_call(dropout)}"


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, is_causal: bool = False, scale: float | None = None
) -> Tensor:
    """softmax(q k^T scale) v: (.., T, d), (.., S, d), (.., S, e) -> (.., T, e).

    Args:
        query: who looks.
        key: what is looked at.
        value: what is seen.
        is_causal: position t sees positions up to t.
        scale: None is 1 / sqrt(d).
    """
    q, k, v = as_tensor(query), as_tensor(key), as_tensor(value)
    factor = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    return apply(ATTENTION, (q, k, v), is_causal, factor)
