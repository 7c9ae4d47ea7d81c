"""Making tensors and joining them."""

from __future__ import annotations

import numpy as np
import pytest

from simdist.errors import GradientError
from simdist.tensor import functions as T


def test_factories() -> None:
    assert T.zeros(2, 3).shape == T.zeros((2, 3)).shape == T.empty(2, 3).shape == (2, 3)
    assert T.ones(2).tolist() == [1.0, 1.0] and T.full((2,), 3).tolist() == [3.0, 3.0]
    assert T.zeros(2).dtype == np.float32 and T.zeros(2, dtype="int64").dtype == np.int64
    assert T.arange(3).tolist() == [0, 1, 2] and T.arange(3).dtype == np.int64
    assert T.arange(1, 2, 0.5).tolist() == [1.0, 1.5] and T.arange(1, 2, 0.5).dtype == np.float32
    like = T.ones_like(T.zeros(2, dtype="float64"))
    assert like.dtype == np.float64 and T.zeros_like(like).tolist() == [0.0, 0.0]


def test_tensor_copies_and_from_numpy_shares() -> None:
    a = np.ones(3)
    assert not np.shares_memory(T.tensor(a).data, a) and T.from_numpy(a).data is a
    t = T.tensor(a)
    assert T.tensor(t).data is not t.data
    assert T.tensor(a, dtype="float32").dtype == np.float32


def test_random_tensors_have_an_address() -> None:
    assert np.array_equal(T.randn(4, 5).data, T.randn(4, 5).data)
    assert not np.array_equal(T.randn(4).data, T.randn(4, seed=1).data)
    assert not np.array_equal(T.randn(4).data, T.randn(4, name="other").data)
    assert np.array_equal(T.randn(4, 5).data[:2], T.randn(2, 5).data)
    u = T.rand(100, dtype="float64")
    assert u.dtype == np.float64 and 0 <= u.data.min() < u.data.max() < 1
    assert T.randn(2, requires_grad=True).requires_grad


def test_joining() -> None:
    a, b = T.tensor([1.0, 2.0]), [3.0, 4.0]
    assert T.cat([a, b]).tolist() == T.concatenate([a, b]).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert T.stack([a, b], dim=1).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert T.where([True, False], a, b).tolist() == [1.0, 4.0]
    assert T.maximum(a, [2.0, 0.0]).tolist() == [2.0, 2.0]


def test_an_integer_tensor_with_gradient() -> None:
    with pytest.raises(GradientError, match=r"Use \.float\(\)"):
        T.tensor([1, 2], requires_grad=True)
