"""SGD by hand: the first steps of each option."""

from __future__ import annotations

import pytest

from simdist import optim
from simdist.tensor import Tensor, tensor


def path(gradients: list[float], **options: float) -> list[float]:
    p = tensor([1.0], dtype="float64", requires_grad=True)
    opt = optim.SGD([p], lr=0.5, **options)  # type: ignore[arg-type]
    seen = []
    for g in gradients:
        p.grad = Tensor(tensor([g], dtype="float64").data)
        opt.step()
        seen.append(p.item())
    return seen


def test_by_hand() -> None:
    assert path([1.0, 1.0]) == [0.5, 0.0]
    assert path([1.0, 1.0], momentum=0.5) == [0.5, -0.25]
    assert path([1.0, 1.0], momentum=0.5, dampening=0.5) == [0.5, 0.0]
    assert path([1.0, 1.0], momentum=0.5, nesterov=True) == [0.25, -0.625]
    assert path([0.0, 0.0], weight_decay=0.5) == [0.75, 0.5625]
    assert path([1.0], maximize=True) == [1.5]


def test_what_is_refused() -> None:
    with pytest.raises(optim.OptimizerError, match="momentum must not be negative, got -1"):
        path([1.0], momentum=-1)
    for options in ({"nesterov": True}, {"nesterov": True, "momentum": 0.5, "dampening": 0.1}):
        with pytest.raises(optim.OptimizerError, match="nesterov needs momentum above 0 and dampening 0"):
            path([1.0], **options)


def test_gradients_are_not_changed() -> None:
    p = tensor([1.0], requires_grad=True)
    opt = optim.SGD([p], lr=0.5, momentum=0.9, weight_decay=0.1)
    p.grad = tensor([2.0])
    opt.step()
    opt.step()
    assert p.grad.tolist() == [2.0]
