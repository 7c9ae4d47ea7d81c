"""Less memory, the same bits."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from simdist import nn
from simdist.errors import GradientError
from simdist.tensor import Tensor, checkpoint, no_grad, tensor


def model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 6))


def gradients(use: bool) -> tuple[list[Any], list[int]]:
    net, order = model(), []
    for i, p in enumerate(net.parameters()):
        p.register_post_accumulate_grad_hook(lambda _, i=i: order.append(i))
    x = tensor(np.linspace(-1, 1, 12).reshape(2, 6).astype(np.float32), requires_grad=True)
    y = x
    for _ in range(2):  # the same parameters twice: their gradients must still come once
        y = checkpoint(net, y) if use else net(y)
    (y * y).sum().backward()
    return [t.grad.data for t in (x, *net.parameters())], order  # type: ignore[union-attr]


def test_same_bits_and_same_order() -> None:
    plain, order = gradients(False)
    saved, saved_order = gradients(True)
    assert order == saved_order and sorted(order) == [0, 1, 2, 3]
    assert all(np.array_equal(a, b) for a, b in zip(plain, saved, strict=True))


def test_intermediate_arrays_are_not_kept() -> None:
    kept: list[Any] = []

    def fn(x: Tensor) -> Tensor:
        y = x.exp()
        kept.append(weakref.ref(y.data))
        return y.tanh()

    x = tensor([1.0], requires_grad=True)
    out = checkpoint(fn, x)
    assert kept[0]() is None
    out.backward()
    assert len(kept) == 2, "it ran again"
    assert x.grad is not None


def test_inside_one_another() -> None:
    def inner(x: Tensor) -> Tensor:
        return x.exp().tanh()

    results = []
    for fn in (lambda x: inner(x) * 2, lambda x: checkpoint(inner, x) * 2):
        x = tensor([0.3], requires_grad=True)
        checkpoint(fn, x).backward()
        assert x.grad is not None
        results.append(x.grad.item())
    assert results[0] == results[1]


def test_parameters_get_gradients_when_the_input_needs_none() -> None:
    net = model()
    checkpoint(net, np.ones((2, 6), np.float32)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())


def test_a_graph_can_be_used_twice() -> None:
    x = tensor([0.3], requires_grad=True)
    y = checkpoint(lambda t: t.exp().tanh(), x)
    y.backward(retain_graph=True)
    first = x.grad.item()  # type: ignore[union-attr]
    y.backward()
    assert x.grad is not None and x.grad.item() == 2 * np.float32(first)


def test_off_the_tape_it_is_a_call() -> None:
    with no_grad():
        assert not checkpoint(lambda t: t * 2, tensor([1.0], requires_grad=True)).requires_grad


def test_a_function_that_changes_is_caught() -> None:
    calls: list[int] = []

    def fn(x: Tensor) -> Tensor:
        calls.append(1)
        return x.exp() if len(calls) == 1 else x.exp().tanh()

    out = checkpoint(fn, tensor([1.0], requires_grad=True))
    with pytest.raises(GradientError, match="did other operations when it was run again"):
        out.backward()


def test_reentrant_is_refused() -> None:
    with pytest.raises(ValueError, match="only use_reentrant=False"):
        checkpoint(lambda t: t, tensor([1.0]), use_reentrant=True)
