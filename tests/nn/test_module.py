"""The tree: names, sharing, state, modes, texts."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from simdist import nn
from simdist.errors import SimdistError
from simdist.nn.module import Module, StateDictError
from simdist.tensor import tensor


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.act = nn.ReLU()
        self.rest = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
        self.register_buffer("count", tensor([1.0]))
        self.register_buffer("scratch", tensor([2.0]), persistent=False)
        self.scale = nn.Parameter([2.0])

    def forward(self, x: Any) -> Any:
        return self.rest(self.act(self.first(x))) * self.scale


NAMES = ["scale", "first.weight", "first.bias", "rest.0.weight", "rest.0.bias"]


def test_names_in_order() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_parameters(recurse=False)] == ["scale"]
    assert next(name for name, _ in net.named_parameters("net")) == "net.scale"
    assert [name for name, _ in net.named_buffers()] == ["count", "scratch"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "act", "rest", "rest.0", "rest.1"]
    assert [name for name, _ in net.named_children()] == ["first", "act", "rest"]
    assert len(list(net.modules())) == 6 and len(list(net.children())) == 3 and len(list(net.buffers())) == 2


def test_a_shared_parameter_is_listed_once_and_saved_twice() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias", "1.bias"]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_attributes_move_between_tables() -> None:
    net = Net()
    net.count = tensor([5.0])
    assert net.state_dict()["count"].tolist() == [5.0]
    net.act = nn.Tanh()
    assert [name for name, _ in net.named_children()] == ["first", "act", "rest"]
    del net.act
    assert not hasattr(net, "act")
    net.number = 3
    del net.number
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'number'"):
        _ = net.number


def test_super_init_comes_first() -> None:
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(SimdistError, match=r"call super\(\).__init__\(\) before assigning 'layer'"):
        Forgetful()


def test_buffer_names() -> None:
    net = Net()
    with pytest.raises(ValueError, match="already has an attribute 'first'"):
        net.register_buffer("first", tensor([1.0]))
    with pytest.raises(ValueError, match="cannot be the name of an attribute"):
        net.register_buffer("a.b", None)


def test_state_goes_round() -> None:
    a, b = Net(), Net()
    for p in a.parameters():
        p.data += 1
    assert b.load_state_dict(a.state_dict()) == ([], [])
    assert all(np.array_equal(x.data, y.data) for x, y in zip(a.parameters(), b.parameters(), strict=True))
    assert "scratch" not in a.state_dict()
    assert a.state_dict()["scale"].data is a.scale.data
    assert b.load_state_dict({"scale": np.array([7.0])}, strict=False)[0] == ["count", *NAMES[1:]]
    assert b.scale.tolist() == [7.0]


def test_a_state_that_does_not_fit() -> None:
    net = Net()
    state: dict[str, Any] = dict(net.state_dict())
    del state["scale"]
    state["other"] = np.ones(1)
    state["first.bias"] = np.ones(9)
    before = net.first.weight.data.copy()
    state["first.weight"] = before + 1
    with pytest.raises(StateDictError) as caught:
        net.load_state_dict(state)
    text = str(caught.value)
    for part in (
        "does not fit Net",
        "missing: scale",
        "unexpected: other",
        "first.bias is (4,) here and (9,) there",
        "strict=False",
    ):
        assert part in text
    assert np.array_equal(net.first.weight.data, before), "nothing was loaded"


def test_modes_and_gradients() -> None:
    net = Net()
    assert net.training and not net.eval().training and not net.rest[1].training
    assert net.train().rest[1].training
    net(np.ones((2, 3), np.float32)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad(set_to_none=False)
    assert net.scale.grad is not None and net.scale.grad.tolist() == [0.0]
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_dtype_of_the_whole() -> None:
    net = Net().double()
    assert {p.dtype for p in net.parameters()} == {np.dtype(np.float64)} and net.count.dtype == np.float64
    assert net.float().scale.dtype == np.float32


def test_apply_visits_the_innermost_first() -> None:
    seen: list[str] = []
    Net().apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Dropout", "Sequential", "Net"]


def test_forward_is_the_subclasss_duty() -> None:
    with pytest.raises(NotImplementedError, match=r"Module has no forward\(\)"):
        Module()(1)


def test_text() -> None:
    assert repr(nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU())) == (
        "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=False)\n  (1): ReLU()\n)"
    )


def test_a_module_is_no_garbage() -> None:
    net = Net()
    net(np.ones((2, 3), np.float32)).sum().backward()
    gc.collect()
    del net
    assert gc.collect() == 0
