"""Every row: its gradient against finite differences, its shapes on arrays without data, its cost.

One random projection tests a whole Jacobian: <v, f(x + h u) - f(x - h u)> / 2h must be <vjp(v), u> for random u and v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simdist.tensor import MetaArray, Tensor, apply
from simdist.tensor.primitive import ROWS, Primitive, register

NUMBERS = np.random.RandomState(0)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape)


def positive(*shape: int) -> np.ndarray:
    return np.abs(NUMBERS.standard_normal(shape)) + 0.5


KEEP = NUMBERS.random_sample((4, 5)) > 0.3
Case = tuple[str, tuple[np.ndarray, ...], tuple[Any, ...]]

CASES: list[Case] = [
    ("add", (normal(4, 5), normal(5)), ()),
    ("add", (normal(3, 1, 5), normal(4, 1)), ()),
    ("sub", (normal(4, 5), normal(4, 1)), ()),
    ("sub", (normal(5), normal(2, 4, 5)), ()),
    ("mul", (normal(4, 5), normal(5)), ()),
    ("mul", (normal(1, 5), normal(4, 5)), ()),
    ("div", (normal(4, 5), positive(5)), ()),
    ("div", (normal(5), positive(4, 5)), ()),
    ("pow", (positive(4, 5), normal(5)), ()),
    ("maximum", (normal(4, 5), normal(5)), ()),
    ("add_scalar", (normal(4, 5),), (1.5,)),
    ("mul_scalar", (normal(4, 5),), (-2.5,)),
    ("div_scalar", (normal(4, 5),), (3.0,)),
    ("rdiv_scalar", (positive(4, 5),), (2.0,)),
    ("pow_scalar", (positive(4, 5),), (3,)),
    ("pow_scalar", (positive(4, 5),), (-0.5,)),
    ("neg", (normal(4, 5),), ()),
    ("exp", (normal(4, 5),), ()),
    ("log", (positive(4, 5),), ()),
    ("sqrt", (positive(4, 5),), ()),
    ("cast", (normal(4, 5),), (np.dtype(np.float64),)),
    ("clone", (normal(4, 5),), ()),
    ("where", (normal(4, 5), normal(5)), (KEEP,)),
    ("masked_fill", (normal(4, 5),), (KEEP, -3.0)),
    ("sum", (normal(3, 4, 5),), ((0, 1, 2), False)),
    ("sum", (normal(3, 4, 5),), ((1,), True)),
    ("mean", (normal(3, 4, 5),), ((0, 2), False)),
    ("mean", (normal(3, 4, 5),), ((0, 1, 2), False)),
    ("max", (normal(3, 4, 5),), ((2,), False)),
    ("max", (normal(3, 4, 5),), ((0, 1), True)),
    ("reshape", (normal(3, 4, 5),), ((5, -1),)),
    ("permute", (normal(3, 4, 5),), ((2, 0, 1),)),
    ("getitem", (normal(3, 4, 5),), ((slice(1, None), 2, slice(None, None, 2)),)),
    ("getitem", (normal(3, 4, 5),), (1,)),
    ("select", (normal(6, 5),), (np.array([0, 3, 3, 5]),)),
    ("select", (normal(4, 5),), ((np.array([0, 1, 1]), np.array([4, 2, 2])),)),
    ("expand", (normal(3, 1, 5),), ((2, 3, 4, 5),)),
    ("cat", (normal(2, 5), normal(3, 5), normal(1, 5)), (0,)),
    ("cat", (normal(4, 2), normal(4, 3)), (-1,)),
    ("stack", (normal(4, 5), normal(4, 5)), (1,)),
    ("stack", (normal(4, 5), normal(4, 5)), (-1,)),
    ("matmul", (normal(4, 5), normal(5, 3)), ()),
    ("matmul", (normal(2, 1, 4, 5), normal(3, 5, 6)), ()),
    ("matmul", (normal(2, 4, 5), normal(5)), ()),
    ("matmul", (normal(5), normal(2, 5, 3)), ()),
    ("matmul", (normal(5), normal(5)), ()),
    ("linear", (normal(3), normal(3, 5), normal(4, 5)), ()),
    ("linear", (normal(3), normal(3, 5), normal(2, 4, 5)), ()),
    ("linear", (normal(3), normal(3, 5), normal(5)), ()),
    ("linear_no_bias", (normal(3, 5), normal(2, 4, 5)), ()),
    ("scaled_dot_product_attention", (normal(2, 4, 5), normal(2, 4, 5), normal(2, 4, 3)), (True, 0.4)),
    ("scaled_dot_product_attention", (normal(2, 3, 5), normal(2, 6, 5), normal(2, 6, 3)), (False, 0.4)),
    ("relu", (normal(4, 5),), ()),
    ("tanh", (normal(4, 5),), ()),
    ("gelu", (normal(4, 5),), ()),
    ("gelu_tanh", (normal(4, 5),), ()),
    ("softmax", (normal(4, 5),), (-1,)),
    ("softmax", (normal(4, 5),), (0,)),
    ("log_softmax", (normal(4, 5),), (1,)),
    ("layer_norm", (normal(4, 3, 5), normal(5), normal(5)), (1e-5,)),
    ("layer_norm", (normal(4, 3, 5), normal(3, 5), normal(3, 5)), (1e-5,)),
    ("embedding", (normal(6, 5),), (np.array([[0, 3], [3, 5]]),)),
    ("dropout", (normal(4, 5),), (KEEP, 1 / 0.7)),
    ("cross_entropy", (normal(4, 5),), (np.array([0, 4, 2, 2]), "mean")),
    ("cross_entropy", (normal(4, 5),), (np.array([0, 4, 2, 2]), "sum")),
    ("cross_entropy", (normal(4, 5),), (np.array([0, 4, 2, 2]), "none")),
    ("mse_loss", (normal(4, 5), normal(4, 5)), ("mean",)),
    ("mse_loss", (normal(4, 5), normal(4, 5)), ("sum",)),
    ("mse_loss", (normal(4, 5), normal(4, 5)), ("none",)),
]  # fmt: skip

IDS = [f"{name}-{i}" for i, (name, _, _) in enumerate(CASES)]
every_case = pytest.mark.parametrize("case", CASES, ids=IDS)


def test_every_row_has_a_case() -> None:
    assert {name for name, _, _ in CASES} == set(ROWS)


def test_rows_know_their_own_name() -> None:
    assert all(row.name == name for name, row in ROWS.items())


@every_case
def test_the_gradient_is_the_derivative(case: Case) -> None:
    name, arrays, params = case
    row, h = ROWS[name], 1e-6
    leaves = [Tensor(a.copy(), requires_grad=True) for a in arrays]
    out = apply(row, leaves, *params)
    v = NUMBERS.standard_normal(out.shape)
    out.backward(v)
    along = [NUMBERS.standard_normal(a.shape) for a in arrays]

    def moved(sign: float) -> Any:
        return row.value(*[a + sign * h * u for a, u in zip(arrays, along, strict=True)], *params)[0]

    expected = (v * (moved(1) - moved(-1))).sum() / (2 * h)
    got = sum((leaf.grad.data * u).sum() for leaf, u in zip(leaves, along, strict=True))  # type: ignore[union-attr]
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-7)


@every_case
def test_each_input_alone_gets_the_same_gradient(case: Case) -> None:
    name, arrays, params = case
    both = [Tensor(a, requires_grad=True) for a in arrays]
    out = apply(ROWS[name], both, *params)
    v = NUMBERS.standard_normal(out.shape)
    out.backward(v)
    for i, together in enumerate(both):
        alone = [Tensor(a, requires_grad=j == i) for j, a in enumerate(arrays)]
        apply(ROWS[name], alone, *params).backward(v)
        assert [t.grad is None for t in alone] == [j != i for j in range(len(alone))]
        assert np.array_equal(alone[i].grad.data, together.grad.data)  # type: ignore[union-attr]


@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_without_data_get_the_same_shapes_and_dtypes(case: Case, dtype: Any) -> None:
    name, arrays, params = case
    params = tuple([np.dtype(dtype) if isinstance(p, np.dtype) else p for p in params])
    real = [Tensor(a.astype(dtype), requires_grad=True) for a in arrays]
    meta = [Tensor(MetaArray(a.shape, dtype), requires_grad=True) for a in arrays]
    out, shadow = apply(ROWS[name], real, *params), apply(ROWS[name], meta, *params)
    assert isinstance(shadow.data, MetaArray)
    assert (shadow.shape, shadow.dtype) == (out.shape, out.dtype)
    assert out.dtype == dtype, "a row must not change the precision"
    out.backward(np.ones(out.shape, dtype))
    shadow.backward(MetaArray(out.shape, dtype))
    for a, b in zip(real, meta, strict=True):
        assert a.grad is not None and b.grad is not None
        assert isinstance(b.grad.data, MetaArray)
        assert (b.grad.shape, b.grad.dtype) == (a.grad.shape, a.grad.dtype) == (a.shape, a.dtype)


@every_case
def test_gradients_do_not_change_what_came_in(case: Case) -> None:
    name, arrays, params = case
    row = ROWS[name]
    before = [a.copy() for a in arrays]
    out, saved = row.value(*arrays, *params)
    g = NUMBERS.standard_normal(np.shape(out))
    copy = g.copy()
    first = [x.copy() for x in row.gradient(g, saved, (1,) * len(arrays)) if x is not None]
    second = [x for x in row.gradient(g, saved, (1,) * len(arrays)) if x is not None]
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert np.array_equal(g, copy)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))


@every_case
def test_costs_are_not_negative_and_equal_without_data(case: Case) -> None:
    name, arrays, params = case
    row = ROWS[name]
    out, _ = row.value(*arrays, *params)
    meta = [MetaArray(a.shape, a.dtype) for a in arrays]
    shadow = MetaArray(out.shape, out.dtype)
    needs = (1,) * len(arrays)
    forward, backward = row.forward_work(out, arrays), row.backward_work(out, arrays, needs)
    assert forward == row.forward_work(shadow, meta)
    assert backward == row.backward_work(shadow, meta, needs)
    assert all(work.flops >= 0 and work.nbytes > 0 for work in [*forward, *backward])
    assert bool(forward) != row.is_view


def test_a_matrix_product_costs_two_m_n_k_forward_and_twice_that_backward() -> None:
    a, b = np.zeros((4, 5), np.float32), np.zeros((5, 3), np.float32)
    row = ROWS["matmul"]
    (work,) = row.forward_work(a @ b, (a, b))
    assert work == (2 * 4 * 5 * 3, 4 * (20 + 15 + 12), (4, 3, 5))
    assert [w.matmul for w in row.backward_work(a @ b, (a, b), (1, 1))] == [(4, 5, 3), (5, 3, 4)]
    assert [w.matmul for w in row.backward_work(a @ b, (a, b), (None, 1))] == [(5, 3, 4)]


def test_a_linear_layer_adds_its_bias_on_the_way() -> None:
    bias, weight, x = np.zeros(3, np.float32), np.zeros((3, 5), np.float32), np.zeros((2, 4, 5), np.float32)
    out = np.zeros((2, 4, 3), np.float32)
    (work,) = ROWS["linear"].forward_work(out, (bias, weight, x))
    assert work == (2 * 8 * 3 * 5 + 24, 4 * (40 + 15 + 24), (8, 3, 5))
    dw, dx, db = ROWS["linear"].backward_work(out, (bias, weight, x), (1, 1, 1))
    assert (dw.matmul, dx.matmul, db.matmul) == ((3, 5, 8), (8, 5, 3), None)


def test_elementwise_traffic_is_operands_and_result() -> None:
    a, b = np.zeros((4, 5), np.float32), np.zeros(5, np.float32)
    assert ROWS["add"].forward_work(a + b, (a, b)) == [(20.0, 80 + 80 + 20, None)]


def test_a_name_is_registered_once() -> None:
    row = Primitive("add", lambda a: (a, ()), lambda g, saved, needs: (g,))
    with pytest.raises(AssertionError):
        register(row)


def test_a_new_operation_is_a_row() -> None:
    cube: Callable[..., Any] = lambda a: (a**3, (a,))  # noqa: E731
    row = Primitive("cube", cube, lambda g, saved, needs: (g * 3 * saved[0] ** 2,))
    x = Tensor(np.array([2.0]), requires_grad=True)
    apply(row, (x,)).backward()
    assert x.grad is not None and x.grad.tolist() == [12.0]
