"""Activations, softmax, normalisation, embedding: known values, edges, texts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simdist.errors import ShapeError, UnknownNameError
from simdist.nn import functional as F
from simdist.tensor import tensor


def test_gelu_is_x_times_the_normal_distribution() -> None:
    x = np.linspace(-8, 8, 65)
    exact = [v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x]
    assert F.gelu(tensor(x)).data == pytest.approx(exact, rel=1e-13)
    assert np.abs(F.gelu(tensor(x), approximate="tanh").data - exact).max() < 5e-4


def test_an_unknown_gelu() -> None:
    with pytest.raises(UnknownNameError, match=r"no approximation of gelu named 'tan'\. Did you mean 'tanh'"):
        F.gelu(tensor([1.0]), approximate="tan")


def test_relu_at_zero() -> None:
    x = tensor([-1.0, 0.0, 2.0], requires_grad=True)
    x.relu().sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0.0, 0.0, 1.0]


def test_softmax_of_large_numbers() -> None:
    x = tensor([1e4, 1e4 + 1, -1e4])
    assert x.softmax(0).data == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e), 0], rel=1e-5)
    assert np.isfinite(x.log_softmax(0).data).all()


def test_layer_norm_has_mean_zero_and_variance_one() -> None:
    x = np.random.RandomState(0).standard_normal((3, 4, 50)) * 7 + 3
    y = F.layer_norm(tensor(x), (50,)).data
    assert np.abs(y.mean(-1)).max() < 1e-14
    assert y.var(-1) == pytest.approx(1, abs=1e-5)


def test_layer_norm_of_the_wrong_shape() -> None:
    with pytest.raises(ShapeError, match=r"the input \(3, 4\) must end with the normalized shape \(5,\)"):
        F.layer_norm(tensor(np.ones((3, 4))), (5,))


def test_embedding_out_of_range() -> None:
    table = tensor(np.ones((4, 2)))
    with pytest.raises(IndexError) as negative:
        F.embedding(np.array([0, -1, 4]), table)
    assert str(negative.value) == (
        "embedding: index -1 at position 1 (2 of the 3 indices are wrong), but the table has 4 rows, 0 to 3. A negative index "
        "does not count from the end: if it marks padding, replace it first."
    )
    with pytest.raises(IndexError) as large:
        F.embedding(np.array([[0, 1], [2, 4]]), table)
    assert str(large.value) == (
        "embedding: index 4 at position (1, 1), but the table has 4 rows, 0 to 3. Build it with num_embeddings=5 or more, or "
        "look where the index comes from."
    )
    with pytest.raises(IndexError, match="embedding: index 0, but the table has no rows"):
        F.embedding(np.array(0), tensor(np.ones((0, 2))))
    with pytest.raises(TypeError, match="indices must be integers, got float64"):
        F.embedding(np.array([0.5]), table)


def test_embedding_gradient_adds_repeated_rows() -> None:
    table = tensor(np.zeros((4, 2)), requires_grad=True)
    F.embedding(np.array([[1, 1], [3, 1]]), table).sum().backward()
    assert table.grad is not None and table.grad.tolist() == [[0, 0], [3, 3], [0, 0], [1, 1]]
