"""How do Adam and AdamW move?

m <- b1 m + (1 - b1) g; v <- b2 v + (1 - b2) g^2; p <- p - lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps). Adam adds
weight_decay p to the gradient, AdamW shrinks p by lr weight_decay first. With ``amsgrad`` the largest v so far is used.

Papers: Kingma and Ba, arXiv 1412.6980; Loshchilov and Hutter, arXiv 1711.05101; Reddi et al., arXiv 1904.09237.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simdist.tensor import Tensor

from .optimizer import Optimizer, OptimizerError, Update

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Adam: steps divided by the root of a running mean of squared gradients.

    Args:
        params: tensors, or dicts of groups.
        lr: learning rate.
        betas: how slowly the two running means forget.
        eps: added to the root.
        weight_decay: pull towards zero, as part of the gradient.
        amsgrad: divide by the largest root so far.
        maximize: go up instead of down.

    Raises:
        OptimizerError: an option out of range.
    """

    name = "adam"
    flops = 12.0
    _decoupled = False

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "decoupled_weight_decay": self._decoupled,
        }  # fmt: skip
        super().__init__(params, defaults)

    def check(self, group: dict[str, Any]) -> None:
        """Refuse options out of range."""
        super().check(group)
        for beta in group["betas"]:
            if not 0 <= beta < 1:
                raise OptimizerError(
                    f"{type(self).__name__}: betas must be at least 0 and below 1, got {group['betas']!r}."
                )

    def arrays(self, group: dict[str, Any]) -> int:
        """Two means, and the largest with amsgrad."""
        return 3 if group["amsgrad"] else 2

    def _entry(self, data: Any, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        entry = self.state.get(parameter)
        if entry is None:
            names = ["exp_avg", "exp_avg_sq"] + (["max_exp_avg_sq"] if group["amsgrad"] else [])
            entry = {"step": 0, **{name: self.made(np.zeros_like(data)) for name in names}}
            self.state[parameter] = entry
        return entry

    def rule(self, group: dict[str, Any]) -> Update:
        """One step of one parameter."""
        return lambda data, gradient, parameter: self._update(data, gradient, parameter, group)

    def _update(self, data: Any, gradient: Any, parameter: Tensor, group: dict[str, Any]) -> None:
        lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
        g = -gradient if group["maximize"] else gradient
        if decay and self._decoupled:
            np.multiply(data, 1 - lr * decay, out=data)
        elif decay:
            g = g + decay * data
        entry = self._entry(data, parameter, group)
        entry["step"] += 1
        mean, square = entry["exp_avg"], entry["exp_avg_sq"]
        mean += (g - mean) * (1 - beta1)
        square *= beta2
        square += g * g * (1 - beta2)
        if group["amsgrad"]:
            np.maximum(entry["max_exp_avg_sq"], square, out=entry["max_exp_avg_sq"])
            square = entry["max_exp_avg_sq"]
        root = np.sqrt(square) / math.sqrt(1 - beta2 ** entry["step"]) + group["eps"]
        np.subtract(data, mean / root * (lr / (1 - beta1 ** entry["step"])), out=data)


class AdamW(Adam):
    """Adam with weight decay apart from the gradient.

    Args:
        params: tensors, or dicts of groups.
        lr: learning rate.
        betas: how slowly the two running means forget.
        eps: added to the root.
        weight_decay: share of each parameter, times lr, that is taken away in each step.
        amsgrad: divide by the largest root so far.
        maximize: go up instead of down.

    Raises:
        OptimizerError: an option out of range.
    """

    name = "adamw"
    flops = 14.0
    _decoupled = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
