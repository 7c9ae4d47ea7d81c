"""Which primitives work element by element?

Arithmetic with broadcasting, powers, exponentials, selection, change of dtype. A Python number is a parameter, not an input:
it does not change the dtype of a float32 tensor (numpy's weak promotion, as in torch).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .primitive import Array, Primitive, elements, register
from .shape import unbroadcast

__all__ = [
    "ADD", "ADD_SCALAR", "CAST", "CLONE", "DIV", "DIV_SCALAR", "EXP", "LOG", "MASKED_FILL", "MAXIMUM", "MUL", "MUL_SCALAR", "NEG",
    "POW", "POW_SCALAR", "RDIV_SCALAR", "SQRT", "SUB", "WHERE",
]  # fmt: skip

Rule = Callable[..., Array]


def _both(name: str, value: Rule, left: Rule, right: Rule, flops: float = 1) -> Primitive:
    """A row of two inputs: ``left`` and ``right`` are (g, a, b, result) -> gradient before unbroadcasting."""

    def forward(a: Array, b: Array) -> tuple[Array, tuple[Array, ...]]:
        out = value(a, b)
        return out, (a, b, out)

    def backward(g: Array, saved: tuple[Array, ...], needs: Sequence[Any]) -> tuple[Array | None, ...]:
        a, b, out = saved
        return (
            None if needs[0] is None else unbroadcast(left(g, a, b, out), a.shape),
            None if needs[1] is None else unbroadcast(right(g, a, b, out), b.shape),
        )

    return register(Primitive(name, forward, backward, elements(flops), 2.0))


def _shapes_only(name: str, value: Rule, sign: float) -> Primitive:
    """Addition and subtraction: the gradient needs the shapes and none of the values."""

    def forward(a: Array, b: Array) -> tuple[Array, tuple[tuple[int, ...], ...]]:
        return value(a, b), (a.shape, b.shape)

    def backward(g: Array, saved: tuple[tuple[int, ...], ...], needs: Sequence[Any]) -> tuple[Array | None, ...]:
        right = None
        if needs[1] is not None:
            right = unbroadcast(g if sign > 0 else -g, saved[1])
        return (None if needs[0] is None else unbroadcast(g, saved[0]), right)

    return register(Primitive(name, forward, backward))


ADD = _shapes_only("add", np.add, 1.0)
SUB = _shapes_only("sub", np.subtract, -1.0)


def _mul(a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
    return a * b, (a, b)


def _mul_gradient(g: Array, saved: tuple[Array, Array], needs: Sequence[Any]) -> tuple[Array | None, ...]:
    a, b = saved
    return (
        None if needs[0] is None else unbroadcast(g * b, a.shape),
        None if needs[1] is None else unbroadcast(g * a, b.shape),
    )


MUL = register(Primitive("mul", _mul, _mul_gradient, gradient_flops=2.0))
DIV = _both("div", np.true_divide, lambda g, a, b, out: g / b, lambda g, a, b, out: -g * out / b)
POW = _both(
    "pow",
    np.power,
    lambda g, a, b, out: g * b * np.power(a, b - 1),
    # 0 ** b has gradient 0 for b: the logarithm of 0 is not asked for
    lambda g, a, b, out: g * out * np.log(np.where(a == 0, np.ones_like(a), a)),
    flops=8,
)
MAXIMUM = _both(
    "maximum",
    np.maximum,
    # ties share the gradient equally, as in torch
    lambda g, a, b, out: g * ((a > b) + (a == b) * 0.5).astype(g.dtype),
    lambda g, a, b, out: g * ((b > a) + (a == b) * 0.5).astype(g.dtype),
)

ADD_SCALAR = register(Primitive("add_scalar", lambda a, c: (a + c, ()), lambda g, saved, needs: (g,)))
MUL_SCALAR = register(Primitive("mul_scalar", lambda a, c: (a * c, (c,)), lambda g, saved, needs: (g * saved[0],)))
DIV_SCALAR = register(Primitive("div_scalar", lambda a, c: (a / c, (c,)), lambda g, saved, needs: (g / saved[0],)))
NEG = register(Primitive("neg", lambda a: (-a, ()), lambda g, saved, needs: (-g,)))


def _rdiv(a: Array, c: float) -> tuple[Array, tuple[Array, Array]]:
    out = c / a
    return out, (a, out)


RDIV_SCALAR = register(Primitive("rdiv_scalar", _rdiv, lambda g, saved, needs: (-g * saved[1] / saved[0],)))
POW_SCALAR = register(
    Primitive(
        "pow_scalar",
        lambda a, c: (a**c, (a, c)),
        lambda g, saved, needs: (g * (saved[1] * saved[0] ** (saved[1] - 1)),),
        elements(8),
    )
)


def _exp(a: Array) -> tuple[Array, tuple[Array]]:
    out = np.exp(a)
    return out, (out,)


def _sqrt(a: Array) -> tuple[Array, tuple[Array]]:
    out = np.sqrt(a)
    return out, (out,)


EXP = register(Primitive("exp", _exp, lambda g, saved, needs: (g * saved[0],), elements(8)))
LOG = register(Primitive("log", lambda a: (np.log(a), (a,)), lambda g, saved, needs: (g / saved[0],), elements(8)))
SQRT = register(Primitive("sqrt", _sqrt, lambda g, saved, needs: (g / (2 * saved[0]),), elements(4)))
CAST = register(
    Primitive(
        "cast",
        lambda a, dtype: (a.astype(dtype), (a.dtype,)),
        lambda g, saved, needs: (g.astype(saved[0]),),
        elements(0),
    )
)


def _where(a: Array, b: Array, condition: Array) -> tuple[Array, tuple[object, ...]]:
    return np.where(condition, a, b), (condition, a.shape, b.shape)


def _where_gradient(g: Array, saved: tuple[Array, ...], needs: Sequence[Any]) -> tuple[Array | None, ...]:
    condition, left, right = saved
    zero = np.zeros((), g.dtype)
    return (
        None if needs[0] is None else unbroadcast(np.where(condition, g, zero), left),
        None if needs[1] is None else unbroadcast(np.where(condition, zero, g), right),
    )


def _masked_fill(a: Array, mask: Array, value: float) -> tuple[Array, tuple[Array]]:
    return np.where(mask, np.asarray(value, a.dtype), a), (mask,)


def _masked_fill_gradient(g: Array, saved: tuple[Array], needs: Sequence[Any]) -> tuple[Array]:
    return (np.where(saved[0], np.zeros((), g.dtype), g),)


WHERE = register(Primitive("where", _where, _where_gradient))
MASKED_FILL = register(Primitive("masked_fill", _masked_fill, _masked_fill_gradient))
CLONE = register(Primitive("clone", lambda a: (a.copy(), ()), lambda g, saved, needs: (g,), elements(0)))
