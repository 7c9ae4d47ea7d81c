"""Clipping: by norm and by value, with any norm, with and without gradients."""

from __future__ import annotations

import numpy as np
import pytest

from simdist import nn
from simdist.tensor import MetaArray, Tensor, tensor


def with_gradient(*numbers: float) -> Tensor:
    t = tensor(np.zeros(len(numbers)), requires_grad=True)
    t.grad = tensor(np.array(numbers))
    return t


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, float("inf")])
def test_norms(p: float) -> None:
    total = nn.utils.clip_grad_norm_([with_gradient(3.0, -4.0), with_gradient(12.0)], 100.0, norm_type=p)
    assert total.item() == pytest.approx(np.linalg.norm([3, 4, 12], p), rel=1e-14)


def test_only_large_gradients_are_scaled() -> None:
    a, b = with_gradient(3.0, 4.0), with_gradient(12.0)
    nn.utils.clip_grad_norm_([a, b], 13.1)
    assert a.grad is not None and a.grad.tolist() == [3.0, 4.0]
    nn.utils.clip_grad_norm_([a, b], 6.5)
    assert a.grad.data == pytest.approx([1.5, 2.0], rel=1e-6)


def test_no_gradients() -> None:
    assert nn.utils.clip_grad_norm_(tensor([1.0], requires_grad=True), 1.0).item() == 0.0


def test_not_finite() -> None:
    with pytest.raises(ValueError, match=r"the 2\.0-norm of the gradients is inf: they cannot be scaled"):
        nn.utils.clip_grad_norm_(with_gradient(float("inf")), 1.0, error_if_nonfinite=True)


def test_by_value() -> None:
    a = with_gradient(-3.0, 0.5, 4.0)
    nn.utils.clip_grad_value_(a, 1.0)
    assert a.grad is not None and a.grad.tolist() == [-1.0, 0.5, 1.0]


def test_without_data() -> None:
    t = Tensor(MetaArray((3,)), requires_grad=True)
    t.grad = Tensor(MetaArray((3,)))
    for p in (2.0, 1.0, float("inf")):
        assert np.isnan(nn.utils.clip_grad_norm_(t, 1.0, p).item())
    nn.utils.clip_grad_value_(t, 1.0)
