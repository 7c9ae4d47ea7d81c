"""Sums, means and maxima: dimensions, ties, precision."""

from __future__ import annotations

import numpy as np
import pytest

from simdist.errors import ShapeError
from simdist.tensor import tensor


@pytest.mark.parametrize("dim", [None, 0, -1, (0, 2), (1, -1)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_dimensions(dim: int | tuple[int, ...] | None, keepdim: bool) -> None:
    a = np.random.RandomState(0).standard_normal((2, 3, 4))
    t = tensor(a)
    assert np.array_equal(t.sum(dim, keepdim).data, a.sum(axis=dim, keepdims=keepdim))
    assert np.allclose(t.mean(dim, keepdim).data, a.mean(axis=dim, keepdims=keepdim), rtol=1e-15)


def test_full_reductions_are_arrays_without_dimensions() -> None:
    t = tensor([1.0, 2.0])
    for out in (t.sum(), t.mean(), t.max()):
        assert isinstance(out.data, np.ndarray) and out.shape == ()
        assert out.dtype == np.float32


def test_equal_maxima_share_the_gradient() -> None:
    t = tensor([[1.0, 3.0, 3.0], [5.0, 5.0, 5.0]], requires_grad=True)
    t.max(1)[0].sum().backward()
    assert t.grad is not None and np.allclose(t.grad.data, [[0, 0.5, 0.5], [1 / 3] * 3])


def test_a_sum_is_the_same_bits_every_time() -> None:
    a = np.random.RandomState(0).standard_normal(100_000).astype(np.float32)
    assert tensor(a).sum().item() == tensor(a.copy()).sum().item() == a.sum()


def test_a_scalar_can_be_reduced() -> None:
    t = tensor(2.0, requires_grad=True)
    (t.sum() + t.mean() + t.max()).backward()
    assert t.grad is not None and t.grad.item() == 3.0


@pytest.mark.filterwarnings("error")
def test_the_mean_of_nothing_is_nan() -> None:
    t = tensor(np.zeros((2, 0), np.float32), requires_grad=True)
    assert np.isnan(t.mean().item()) and t.mean().dtype == np.float32 and t.mean(0).shape == (0,)
    assert np.isnan(t.mean(1).detach().numpy()).tolist() == [True, True]
    t.mean().backward()
    assert t.grad is not None and t.grad.shape == (2, 0)
    with pytest.raises(ShapeError, match=r"max of \(2, 0\)"):
        t.max()
