"""MLP, attention, transformer block: structure, causality, texts."""

from __future__ import annotations

import numpy as np
import pytest

from simdist import nn
from simdist.errors import ShapeError, UnknownNameError

X = np.random.RandomState(0).standard_normal((2, 5, 8)).astype(np.float32)


def test_mlp_has_an_activation_between_layers_only() -> None:
    assert [type(m).__name__ for m in nn.MLP([4, 5, 6, 2])] == ["Linear", "ReLU", "Linear", "ReLU", "Linear"]
    assert [type(m).__name__ for m in nn.MLP([4, 2])] == ["Linear"]
    assert nn.MLP([4, 5, 2], activation="gelu_tanh")[1].approximate == "tanh"
    assert len(list(nn.MLP([4, 5, 2], bias=False).parameters())) == 2
    assert nn.MLP([4, 2], dtype="float64")(np.ones((1, 4))).dtype == np.float64


def test_mlp_refuses() -> None:
    with pytest.raises(ValueError, match=r"at least two sizes.*got \[4\]"):
        nn.MLP([4])
    with pytest.raises(UnknownNameError, match=r"no activation named 'rellu'\. Did you mean 'relu'"):
        nn.MLP([4, 2], activation="rellu")


@pytest.mark.parametrize(
    "module", [nn.MultiheadAttention(8, 2), nn.TransformerBlock(8, 2), nn.TransformerBlock(8, 4, dropout=0.1)]
)
def test_shape_and_gradients(module: nn.Module) -> None:
    out = module(X)
    assert out.shape == X.shape
    out.sum().backward()
    assert all(p.grad is not None for p in module.parameters())


@pytest.mark.parametrize("make", [lambda: nn.MultiheadAttention(8, 2), lambda: nn.TransformerBlock(8, 2)])
def test_a_position_does_not_see_later_ones(make: object) -> None:
    module = make()  # type: ignore[operator]
    changed = X.copy()
    changed[:, 3:] += 1
    a, b = module(X).detach().data, module(changed).detach().data
    assert np.array_equal(a[:, :3], b[:, :3]) and not np.allclose(a[:, 3:], b[:, 3:])


def test_heads_divide_the_width() -> None:
    for make in (nn.MultiheadAttention, nn.TransformerBlock):
        with pytest.raises(ShapeError, match="3 heads do not divide a width of 8"):
            make(8, 3)


def test_attention_of_a_single_sequence_is_explained() -> None:
    with pytest.raises(
        ShapeError, match=r"must have three dimensions, \(sequences, positions, width\), got 2: \(3, 8\)"
    ):
        nn.MultiheadAttention(8, 2)(np.ones((3, 8), np.float32))
