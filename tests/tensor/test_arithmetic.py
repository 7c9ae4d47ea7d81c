"""Values where a formula has an edge: powers of zero, ties, broadcasting into both operands."""

from __future__ import annotations

import numpy as np

from simdist.tensor import maximum, tensor, where


def test_zero_to_a_power_has_finite_gradients() -> None:
    base, exponent = tensor([0.0, 2.0], requires_grad=True), tensor([2.0, 3.0], requires_grad=True)
    (base**exponent).sum().backward()
    assert base.grad is not None and base.grad.tolist() == [0.0, 12.0]
    assert exponent.grad is not None and np.allclose(exponent.grad.tolist(), [0.0, 8 * np.log(2)])


def test_ties_share_the_gradient() -> None:
    a, b = tensor([1.0, 2.0, 3.0], requires_grad=True), tensor([1.0, 3.0, 2.0], requires_grad=True)
    maximum(a, b).sum().backward()
    assert a.grad is not None and a.grad.tolist() == [0.5, 0.0, 1.0]
    assert b.grad is not None and b.grad.tolist() == [0.5, 1.0, 0.0]


def test_both_operands_may_be_broadcast() -> None:
    a, b = tensor(np.ones((3, 1)), requires_grad=True), tensor(np.ones((1, 4)) * 2, requires_grad=True)
    out = a * b + a
    assert out.shape == (3, 4)
    out.sum().backward()
    assert a.grad is not None and a.grad.tolist() == [[12.0]] * 3
    assert b.grad is not None and b.grad.tolist() == [[3.0] * 4]


def test_where_takes_numbers_and_tensors_as_condition() -> None:
    x = tensor([1.0, -1.0], requires_grad=True)
    out = where(x > 0, x, 0.0)
    out.sum().backward()
    assert out.tolist() == [1.0, 0.0] and out.dtype == np.float32
    assert x.grad is not None and x.grad.tolist() == [1.0, 0.0]


def test_masked_fill_with_infinity_stops_gradients() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    y = x.masked_fill(np.array([False, True]), float("-inf"))
    y.softmax(0)[0].backward()
    assert y.tolist() == [1.0, float("-inf")]
    assert x.grad is not None and x.grad.tolist()[1] == 0.0


def test_rules_keep_no_values_they_do_not_need() -> None:
    a, b = tensor([1.0], requires_grad=True), tensor([2.0], requires_grad=True)
    node = (a + b).node
    assert node is not None and node.saved == ((1,), (1,))
