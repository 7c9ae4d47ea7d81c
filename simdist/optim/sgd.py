"""How does stochastic gradient descent move?

g <- grad + weight_decay p; buffer <- momentum buffer + (1 - dampening) g (the first time: g); g <- buffer, or g + momentum buffer
with Nesterov; p <- p - lr g. Torch's convention: the learning rate is not part of the buffer (Sutskever et al. 2013 differ).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simdist.tensor import Tensor

from .optimizer import Optimizer, OptimizerError, Update

__all__ = ["SGD"]


class SGD(Optimizer):
    """Stochastic gradient descent.

    Args:
        params: tensors, or dicts of groups.
        lr: learning rate.
        momentum: share of the last step that is kept.
        dampening: share of the gradient that does not enter the buffer.
        weight_decay: pull towards zero, as part of the gradient.
        nesterov: look ahead along the buffer.
        maximize: go up instead of down.

    Raises:
        OptimizerError: an option out of range; Nesterov without momentum or with dampening.
    """

    name = "sgd"
    flops = 2.0

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def check(self, group: dict[str, Any]) -> None:
        """Refuse options out of range."""
        super().check(group)
        if not group["momentum"] >= 0:
            raise OptimizerError(f"SGD: momentum must not be negative, got {group['momentum']!r}.")
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise OptimizerError(
                f"SGD: nesterov needs momentum above 0 and dampening 0, got momentum={group['momentum']!r}, "
                f"dampening={group['dampening']!r}."
            )

    def arrays(self, group: dict[str, Any]) -> int:
        """One, with momentum."""
        return 1 if group["momentum"] else 0

    def rule(self, group: dict[str, Any]) -> Update:
        """One step of one parameter: the plain one is worth a path of its own, it is every program's inner loop."""
        lr = group["lr"]
        if group["momentum"] or group["weight_decay"] or group["maximize"]:
            return lambda data, gradient, parameter: self._update(data, gradient, parameter, group)

        rates: dict[Any, Any] = {}  # the number as an array: numpy would convert it anew for each parameter

        def plain(data: Any, gradient: Any, parameter: Tensor) -> None:
            rate = rates.get(gradient.dtype)
            if rate is None:
                rate = rates[gradient.dtype] = np.array(lr, gradient.dtype) if type(lr) is float else lr
            data -= rate * gradient

        return plain

    def _update(self, data: Any, gradient: Any, parameter: Tensor, group: dict[str, Any]) -> None:
        g = -gradient if group["maximize"] else gradient
        if group["weight_decay"]:
            g = g + group["weight_decay"] * data
        momentum = group["momentum"]
        if momentum:
            entry = self.state.get(parameter)
            if entry is None:
                buffer = self.made(g.copy())
                self.state[parameter] = {"momentum_buffer": buffer}
            else:
                buffer = entry["momentum_buffer"]
                buffer *= momentum
                buffer += g if not group["dampening"] else (1 - group["dampening"]) * g
            g = g + momentum * buffer if group["nesterov"] else buffer
        step = g * group["lr"]
        np.subtract(data, step, out=data)
