"""What the functions add to the rows: names, checks, defaults."""

from __future__ import annotations

import numpy as np
import pytest

from simdist.nn import functional as F
from simdist.tensor import MetaArray, Tensor, tensor

A = np.random.RandomState(0).standard_normal((3, 4))


def test_they_are_the_tensors_methods() -> None:
    t = tensor(A)
    assert np.array_equal(F.relu(A).data, t.relu().data) and np.array_equal(F.tanh(A).data, t.tanh().data)
    assert np.array_equal(F.softmax(A, 1).data, t.softmax(1).data)
    assert np.array_equal(F.log_softmax(A, 0).data, t.log_softmax(0).data)


def test_linear_without_bias() -> None:
    w = tensor(np.ones((2, 4)))
    assert np.allclose(F.linear(A, w).data, A @ np.ones((4, 2)))


def test_layer_norm_without_weight() -> None:
    assert np.abs(F.layer_norm(A, (4,)).data.mean(1)).max() < 1e-14
    assert F.layer_norm(Tensor(MetaArray((3, 4))), (4,)).is_meta


def test_scale_of_attention() -> None:
    q = np.ones((1, 2, 4))
    a, b = F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q, q, q, scale=0.5)
    assert np.array_equal(a.data, b.data)


def test_dropout_arguments() -> None:
    t = tensor(A)
    assert F.dropout(t, 0.0) is t and F.dropout(t, 0.5, training=False) is t
    assert np.array_equal(F.dropout(A, 0.5, seed=3).data, F.dropout(A, 0.5, seed=3).data)
    assert not np.array_equal(F.dropout(A, 0.5, seed=3).data, F.dropout(A, 0.5, seed=4).data)
    assert not np.array_equal(F.dropout(np.ones(64), 0.5).data, F.dropout(np.ones(64), 0.5).data)
    assert F.dropout(Tensor(MetaArray((3,))), 0.5).is_meta
    with pytest.raises(ValueError, match=r"must be from 0 to 1, got -0\.1"):
        F.dropout(A, -0.1)


def test_lists_as_indices() -> None:
    assert F.embedding([0, 1], tensor(A)).shape == (2, 4)
    assert F.cross_entropy(A, [0, 1, 2]).shape == ()
