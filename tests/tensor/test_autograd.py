"""The tape: order, accumulation, hooks, modes, and that memory goes back by itself."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from simdist import nn, optim
from simdist.errors import GradientError
from simdist.tensor import Tensor, enable_grad, is_grad_enabled, no_grad, set_grad_enabled, tensor


def leaf(*numbers: float) -> Tensor:
    return tensor(list(numbers), requires_grad=True)


def test_a_tensor_used_twice_gets_both_parts() -> None:
    x = leaf(2.0, 3.0)
    (x * x + x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [5.0, 7.0]


def test_gradients_accumulate_over_backward_passes() -> None:
    x = leaf(2.0)
    for _ in range(3):
        (x * 4).backward()
    assert x.grad is not None and x.grad.tolist() == [12.0]


def test_the_gradient_of_a_leaf_owns_its_memory() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    seed = np.ones(2, np.float32)
    (x + y).backward(seed)
    assert x.grad is not None and y.grad is not None
    x.grad.data[:] = 7
    assert y.grad.tolist() == [1.0, 1.0] and seed.tolist() == [1.0, 1.0]
    z = leaf(1.0, 2.0)
    z.sum().backward()
    assert z.grad is not None and z.grad.data.flags.writeable and z.grad.data.flags.c_contiguous


def test_a_leaf_can_be_its_own_root() -> None:
    x, seen = leaf(1.0), []
    x.register_post_accumulate_grad_hook(seen.append)
    x.backward()
    assert x.grad is not None and x.grad.tolist() == [1.0] and seen == [x]


def test_a_leaf_is_complete_once_when_its_last_part_is_there() -> None:
    order: list[str] = []
    shared, first, last = leaf(1.0), leaf(1.0), leaf(1.0)
    for name, t in (("shared", shared), ("first", first), ("last", last)):
        t.register_post_accumulate_grad_hook(lambda t, name=name: order.append(f"{name} {t.grad.tolist()}"))
    (((shared * first) * 2 + shared) * last).backward()
    assert order == ["last [3.0]", "shared [3.0]", "first [2.0]"]


def test_nodes_are_visited_from_the_last_made_to_the_first() -> None:
    order: list[str] = []
    a, b, c = leaf(1.0), leaf(1.0), leaf(1.0)
    x, y, z = a * 2, b * 2, c * 2
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_post_accumulate_grad_hook(lambda _, name=name: order.append(name))
    (z + (x + y)).backward()
    assert order == ["c", "b", "a"]


def test_hooks_see_and_replace_gradients() -> None:
    x = leaf(1.0)
    y = x * 3
    seen: list[Any] = []
    handle = y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: seen.append(g.tolist()))
    (y * 2).backward(retain_graph=True)
    assert x.grad is not None and x.grad.tolist() == [60.0] and seen == [[60.0]]
    handle.remove()
    handle.remove()
    x.grad = None
    (y * 2).backward()
    assert x.grad is not None and x.grad.tolist() == [6.0]  # type: ignore[unreachable]


def test_where_hooks_do_not_belong() -> None:
    with pytest.raises(GradientError, match="would never be called"):
        tensor([1.0]).register_hook(lambda g: None)
    with pytest.raises(GradientError, match="belongs on a leaf"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(lambda t: None)


def test_a_second_backward_needs_retain_graph() -> None:
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad is not None and x.grad.tolist() == [8.0]
    with pytest.raises(GradientError, match=r"'mul' a second time.*retain_graph=True"):
        y.backward()


def test_backward_where_there_is_nothing() -> None:
    with pytest.raises(GradientError, match="does not require a gradient"):
        tensor([1.0]).backward()
    with pytest.raises(GradientError, match=r"shape \(2,\) needs a gradient of that shape"):
        (leaf(1.0, 2.0) * 2).backward()
    with pytest.raises(ValueError, match=r"the gradient has shape \(3,\), the tensor \(2,\)"):
        (leaf(1.0, 2.0) * 2).backward(tensor([1.0, 1.0, 1.0]))


def test_modes() -> None:
    x = leaf(1.0)
    with no_grad():
        assert not is_grad_enabled() and not (x * 2).requires_grad
        with enable_grad():
            assert (x * 2).requires_grad
        with set_grad_enabled(False):
            assert not is_grad_enabled()
    assert is_grad_enabled()

    @no_grad()
    def inside() -> bool:
        return is_grad_enabled()

    assert inside() is False and inside.__name__ == "inside"
    with pytest.raises(ZeroDivisionError), no_grad():
        _ = 1 / 0
    assert is_grad_enabled()


def test_hooks_run_off_the_tape() -> None:
    x, modes = leaf(1.0), []
    x.register_post_accumulate_grad_hook(lambda t: modes.append(is_grad_enabled()))
    (x * 2).backward()
    assert modes == [False]


def test_an_error_in_a_hook_leaves_the_graph_usable() -> None:
    x = leaf(1.0)
    y = x * 2
    handle = y.register_hook(lambda g: 1 / 0)  # type: ignore[arg-type,return-value]
    with pytest.raises(ZeroDivisionError):
        (y + x).backward()
    handle.remove()
    assert is_grad_enabled()
    x.grad = None
    (y * 1).backward()
    assert x.grad.tolist() == [2.0]  # type: ignore[attr-defined]


def test_a_step_leaves_nothing_for_the_garbage_collector() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.1), nn.Linear(8, 3))
    optimizer = optim.AdamW(model.parameters())
    x, y = np.ones((4, 8), np.float32), np.array([0, 1, 2, 0])

    def step() -> None:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    step()
    gc.collect()
    gc.disable()
    try:
        step()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_saved_arrays_go_when_their_node_is_done() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()
    z = (y * y).sum()
    node = y.node
    assert node is not None
    array = weakref.ref(y.data)
    del y
    assert array() is not None
    z.backward()
    assert array() is None


def test_a_long_chain_needs_no_recursion() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.backward()
    assert x.grad is not None and x.grad.tolist() == [1.0]
    del y
