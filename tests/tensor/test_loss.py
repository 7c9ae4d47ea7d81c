"""Cross entropy and mean squared error: against their formulas, reductions, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simdist.errors import ShapeError, UnknownNameError
from simdist.nn import functional as F
from simdist.tensor import MetaArray, Tensor, tensor

Z = np.random.RandomState(0).standard_normal((5, 3))
T = np.array([0, 2, 1, 1, 0])


def test_cross_entropy_is_minus_the_log_probability() -> None:
    losses = -tensor(Z).log_softmax(1).data[np.arange(5), T]
    assert F.cross_entropy(Z, T, "none").data == pytest.approx(losses, rel=1e-14)
    assert F.cross_entropy(Z, T, "sum").item() == pytest.approx(losses.sum(), rel=1e-14)
    assert F.cross_entropy(tensor(Z), tensor(T)).item() == pytest.approx(losses.mean(), rel=1e-14)


def test_its_gradient_is_probability_minus_target() -> None:
    z = tensor(Z, requires_grad=True)
    F.cross_entropy(z, T).backward()
    expected = z.softmax(1).detach().data.copy()
    expected[np.arange(5), T] -= 1
    assert z.grad is not None and np.allclose(z.grad.data, expected / 5, rtol=1e-13)


def test_large_logits() -> None:
    assert F.cross_entropy(np.array([[1e4, 0.0]], np.float32), np.array([1])).item() == 1e4


BAD: list[tuple[Any, Any, type[Exception], str]] = [
    (Z, T[:3], ShapeError, r"logits \(5, 3\) and target \(3,\). Flatten a sequence first"),
    (Z.reshape(1, 5, 3), T, ShapeError, "one class for each row"),
    (Z, T.astype(float), TypeError, "must be of integers, got float64"),
    (Z, T + 1, IndexError, "run from 1 to 3, but the logits have 3 classes: 0 to 2"),
    (Z, T - 1, IndexError, "run from -1 to 1"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_targets(case: int) -> None:
    logits, target, kind, text = BAD[case]
    with pytest.raises(kind, match=text):
        F.cross_entropy(logits, target)


def test_targets_without_data() -> None:
    loss = F.cross_entropy(Tensor(MetaArray((5, 3)), requires_grad=True), Tensor(MetaArray((5,), np.int64)))
    loss.backward()
    assert loss.shape == ()


def test_mse_is_the_mean_of_squares() -> None:
    a, b = Z, Z[::-1].copy()
    assert F.mse_loss(a, b).item() == pytest.approx(((a - b) ** 2).mean(), rel=1e-14)
    assert F.mse_loss(a, b, "none").shape == (5, 3)


def test_mse_does_not_broadcast() -> None:
    with pytest.raises(ShapeError, match=r"\(5, 1\) and the target \(5,\): they must be equal"):
        F.mse_loss(np.ones((5, 1)), np.ones(5))


def test_an_unknown_reduction() -> None:
    for loss, target in ((F.cross_entropy, T), (F.mse_loss, Z)):
        with pytest.raises(UnknownNameError, match="no reduction named 'avg'"):
            loss(Z, target, reduction="avg")


@pytest.mark.filterwarnings("error")
def test_an_empty_batch() -> None:
    z = tensor(np.zeros((0, 3)), requires_grad=True)
    none = np.zeros(0, np.int64)
    for loss in (
        lambda reduction: F.cross_entropy(z, none, reduction),
        lambda reduction: F.mse_loss(z, z.data, reduction),
    ):
        assert np.isnan(loss("mean").item()) and loss("sum").item() == 0 and loss("none").numel() == 0
        loss("mean").backward()
    assert z.grad is not None and z.grad.shape == (0, 3)
