"""Groups, state, texts: what all optimizers share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simdist import nn, optim
from simdist.tensor import Tensor, tensor

MAKERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
    "adamw": lambda p: optim.AdamW(p, lr=0.1),
}


def leaf(*numbers: float) -> Tensor:
    return tensor(list(numbers), requires_grad=True)


def step(optimizer: optim.Optimizer, *parameters: Tensor) -> None:
    optimizer.zero_grad()
    sum((p * p for p in parameters), tensor(0.0)).sum().backward()
    optimizer.step()


def test_parameters_without_gradient_stay() -> None:
    a, b = leaf(1.0), leaf(1.0)
    step(optim.SGD([a, b], lr=0.1), a)
    assert a.tolist() == [pytest.approx(0.8)] and b.tolist() == [1.0]


def test_groups_have_options_of_their_own() -> None:
    a, b = leaf(1.0), leaf(1.0)
    opt = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.25}], lr=0.1)
    step(opt, a, b)
    assert a.tolist() == [pytest.approx(0.8)] and b.tolist() == [0.5]
    opt.param_groups[0]["lr"] = 0.0
    opt.add_param_group({"params": [leaf(1.0)]})
    assert [g["lr"] for g in opt.param_groups] == [0.0, 0.25, 0.1]
    assert repr(opt).startswith("SGD(lr=0.0, momentum=0.0")


@pytest.mark.parametrize("name", MAKERS)
def test_going_on_from_a_saved_state_changes_nothing(name: str) -> None:
    straight, first = leaf(1.0, -2.0), leaf(1.0, -2.0)
    a, b = MAKERS[name]([straight]), MAKERS[name]([first])
    for _ in range(4):
        step(a, straight)
    for _ in range(2):
        step(b, first)
    second = tensor(first.detach().numpy(), requires_grad=True)
    c = MAKERS[name]([second])
    c.load_state_dict(b.state_dict())
    step(b, first)  # must not disturb the copy
    for _ in range(2):
        step(c, second)
    assert np.array_equal(second.data, straight.data)


def test_the_state_dict_has_torchs_form() -> None:
    a, b = leaf(1.0), leaf(1.0)
    opt = optim.AdamW([{"params": [a]}, {"params": [b]}])
    step(opt, a, b)
    state = opt.state_dict()
    assert list(state) == ["state", "param_groups"] and [g["params"] for g in state["param_groups"]] == [[0], [1]]
    assert list(state["state"]) == [0, 1] and list(state["state"][0]) == ["step", "exp_avg", "exp_avg_sq"]


def test_a_state_of_another_model() -> None:
    with pytest.raises(optim.OptimizerError, match=r"groups of \[2\] parameters, this optimizer of \[1\]"):
        optim.SGD([leaf(1.0)]).load_state_dict(optim.SGD([leaf(1.0), leaf(2.0)]).state_dict())


BAD: list[tuple[Any, str]] = [
    (lambda: optim.SGD([]), "SGD got no parameters"),
    (lambda: optim.SGD([1.0]), "updates tensors, got float"),
    (lambda: optim.SGD([leaf(1.0) * 2]), r"a tensor \(1,\) that was computed"),
    (lambda: optim.SGD([p := leaf(1.0), p]), "was given twice"),
    (lambda: optim.SGD([leaf(1.0)], lr=-1), "lr must not be negative, got -1"),
    (lambda: optim.AdamW([leaf(1.0)], eps=-1), "eps must not be negative"),
    (lambda: optim.Adam([leaf(1.0)], weight_decay=float("nan")), "weight_decay must not be negative, got nan"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_what_is_refused(case: int) -> None:
    make, text = BAD[case]
    with pytest.raises(optim.OptimizerError, match=text):
        make()


def test_a_closure_computes_the_loss() -> None:
    a = leaf(1.0)
    opt = optim.SGD([a], lr=0.1)

    def closure() -> float:
        opt.zero_grad(set_to_none=False)
        loss = (a * a).sum()
        loss.backward()
        return float(loss)

    assert opt.step(closure) == 1.0 and a.tolist() == [pytest.approx(0.8)]


def test_zero_grad() -> None:
    a = leaf(1.0)
    opt = optim.SGD(a)
    (a * 2).backward()
    opt.zero_grad(set_to_none=False)
    assert a.grad is not None and a.grad.tolist() == [0.0]
    opt.zero_grad()
    assert a.grad is None


def test_the_base_has_no_rule() -> None:
    a = leaf(1.0)
    with pytest.raises(NotImplementedError, match=r"Optimizer has no rule\(\)"):
        optim.Optimizer([a], {}).step()


@pytest.mark.parametrize("name", MAKERS)
def test_without_data(name: str) -> None:
    from simdist.tensor import MetaArray

    p = Tensor(MetaArray((3,)), requires_grad=True)
    opt = MAKERS[name]([p])
    for _ in range(2):
        opt.zero_grad()
        (p * p).sum().backward()
        opt.step()
    assert p.is_meta


def test_a_perceptron_learns() -> None:
    x = np.random.RandomState(0).standard_normal((64, 2)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
    for make in MAKERS.values():
        model = nn.MLP([2, 16, 2], activation="tanh")
        opt = make(model.parameters())
        for _ in range(150):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
        assert loss.item() < 0.2
