"""Linear layers against matmul, attention against its formula, texts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simdist.errors import ShapeError
from simdist.nn import functional as F
from simdist.tensor import tensor

N = np.random.RandomState(0)


def test_linear_is_matmul_and_add() -> None:
    x, w, b = (tensor(N.standard_normal(s), requires_grad=True) for s in ((2, 3, 5), (4, 5), (4,)))
    fused = F.linear(x, w, b)
    fused.sum().backward()
    got = [t.grad.data.copy() for t in (x, w, b)]  # type: ignore[union-attr]
    for t in (x, w, b):
        t.grad = None
    plain = x @ w.T + b
    plain.sum().backward()
    assert np.allclose(fused.detach().data, plain.detach().data, rtol=1e-14)
    for mine, t in zip(got, (x, w, b), strict=True):
        assert t.grad is not None and np.allclose(mine, t.grad.data, rtol=1e-13)


def test_bias_arrives_before_weight_and_weight_before_input() -> None:
    order: list[str] = []
    x, w, b = (tensor(N.standard_normal(s), requires_grad=True) for s in ((3, 5), (4, 5), (4,)))
    for name, t in (("x", x), ("w", w), ("b", b)):
        t.register_post_accumulate_grad_hook(lambda _, name=name: order.append(name))
    F.linear(x, w, b).sum().backward()
    assert order == ["b", "w", "x"]


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_its_formula(causal: bool) -> None:
    arrays = [N.standard_normal((2, 4, 6, 8)) for _ in range(3)]
    fused = [tensor(a, requires_grad=True) for a in arrays]
    plain = [tensor(a, requires_grad=True) for a in arrays]
    out = F.scaled_dot_product_attention(*fused, is_causal=causal)
    q, k, v = plain
    scores = q @ k.transpose(-2, -1) / math.sqrt(8)
    if causal:
        scores = scores.masked_fill(np.triu(np.ones((6, 6), bool), 1), float("-inf"))
    expected = scores.softmax(-1) @ v
    assert np.allclose(out.detach().data, expected.detach().data, rtol=1e-12)
    weight = tensor(N.standard_normal(out.shape))
    (out * weight).sum().backward()
    (expected * weight).sum().backward()
    for a, b in zip(fused, plain, strict=True):
        assert a.grad is not None and b.grad is not None
        assert np.allclose(a.grad.data, b.grad.data, rtol=1e-10, atol=1e-13)


def test_a_position_sees_no_later_one() -> None:
    q, k, v = (N.standard_normal((1, 5, 4)) for _ in range(3))
    before = F.scaled_dot_product_attention(q, k, v, is_causal=True).data
    k[0, 3:], v[0, 3:] = 100.0, -100.0
    after = F.scaled_dot_product_attention(q, k, v, is_causal=True).data
    assert np.array_equal(before[0, :3], after[0, :3])
    assert not np.allclose(before[0, 3:], after[0, 3:])


def test_large_scores_do_not_overflow() -> None:
    big = np.full((1, 3, 4), 1e4, np.float32)
    assert np.isfinite(F.scaled_dot_product_attention(big, big, big).data).all()


def test_an_input_of_the_wrong_size() -> None:
    with pytest.raises(ShapeError, match=r"the input \(2, 3\) must end with 5, the weight's input size"):
        F.linear(np.ones((2, 3)), tensor(np.ones((4, 5))))
