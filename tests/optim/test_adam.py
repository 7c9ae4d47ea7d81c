"""Adam by hand: the first step has the size of the learning rate, decay is coupled or not."""

from __future__ import annotations

import pytest

from simdist import optim
from simdist.tensor import tensor


def one(kind: type[optim.Adam], gradient: float, **options: float) -> float:
    p = tensor([2.0], dtype="float64", requires_grad=True)
    p.grad = tensor([gradient], dtype="float64")
    kind([p], lr=0.1, **options).step()  # type: ignore[arg-type]
    return float(p.item())


@pytest.mark.parametrize("gradient", [1e-3, 1.0, 1e3])
def test_the_first_step_is_the_learning_rate(gradient: float) -> None:
    assert one(optim.Adam, gradient, eps=0.0) == pytest.approx(1.9)
    assert one(optim.Adam, -gradient, eps=0.0) == pytest.approx(2.1)
    assert one(optim.Adam, gradient, eps=0.0, maximize=True) == pytest.approx(2.1)


def test_weight_decay_is_part_of_the_gradient_or_not() -> None:
    assert one(optim.Adam, 1.0, eps=0.0, weight_decay=0.5) == pytest.approx(1.9)
    assert one(optim.AdamW, 1.0, eps=0.0, weight_decay=0.5) == pytest.approx(2.0 * 0.95 - 0.1)


def test_amsgrad_remembers_the_largest() -> None:
    p = tensor([0.0], dtype="float64", requires_grad=True)
    opt = optim.Adam([p], lr=0.1, betas=(0.0, 0.0), eps=0.0, amsgrad=True)
    for gradient in (2.0, 1.0):
        p.grad = tensor([gradient], dtype="float64")
        opt.step()
    assert p.item() == pytest.approx(-0.1 - 0.1 / 2)
    assert list(opt.state[p]) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]


def test_defaults_are_torchs() -> None:
    p = tensor([1.0], requires_grad=True)
    assert optim.Adam([p]).defaults["weight_decay"] == 0.0 and optim.AdamW([p]).defaults["weight_decay"] == 0.01
    assert optim.Adam([p]).defaults["betas"] == (0.9, 0.999) and optim.Adam([p]).defaults["eps"] == 1e-8


def test_betas_out_of_range() -> None:
    with pytest.raises(optim.OptimizerError, match=r"AdamW: betas must be at least 0 and below 1, got \(0.9, 1.0\)"):
        optim.AdamW([tensor([1.0], requires_grad=True)], betas=(0.9, 1.0))
