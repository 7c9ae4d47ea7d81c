"""What do all optimizers share?

Parameter groups with their own options, state for each parameter, and a state dict in torch's form: parameters are numbered
in the order of the groups, state by number. ``step`` updates the numbers in place, off the tape, and tells the listener what
it cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from simdist.errors import SimdistError
from simdist.tensor import Tensor
from simdist.tensor.observe import Listener, current_listener

__all__ = ["Optimizer", "OptimizerError", "Update"]

Update = Callable[[Any, Any, Tensor], None]
"""(numbers, gradient, parameter) -> None: changes the numbers in place."""


class OptimizerError(SimdistError, ValueError):
    """An optimizer that cannot work: no parameters, an option out of range, a state dict of another model."""


class Optimizer:
    """The base of all optimizers.

    Args:
        params: tensors, or dicts with ``"params"`` and options of their own.
        defaults: options of the groups that do not say otherwise.

    Attributes:
        param_groups: dicts of ``"params"`` and options.
        state: parameter -> its arrays.

    Raises:
        OptimizerError: no parameters, a parameter twice, or something that is no tensor.
    """

    name: ClassVar[str] = "optimizer"
    flops: ClassVar[float] = 1.0
    """Operations for each element, for the simulated cost."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        self._tokens: list[Any] = []
        given = [params] if isinstance(params, Tensor) else list(params)
        if not given:
            raise OptimizerError(
                f"{type(self).__name__} got no parameters: pass model.parameters() (an iterator is used up once)."
            )
        groups: list[Any] = given if isinstance(given[0], dict) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        inside = param_group["params"]
        tensors = [inside] if isinstance(inside, Tensor) else list(inside)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise OptimizerError(f"{type(self).__name__} updates tensors, got {type(tensor).__name__}.")
            if not tensor.is_leaf:
                raise OptimizerError(
                    f"{type(self).__name__}: a tensor {tensor.shape} that was computed cannot be updated."
                )
            if id(tensor) in known:
                raise OptimizerError(f"{type(self).__name__}: a parameter {tensor.shape} was given twice.")
            known.add(id(tensor))
        group = {**self.defaults, **param_group, "params": tensors}
        self.check(group)
        self.param_groups.append(group)

    def check(self, group: dict[str, Any]) -> None:
        """Refuse options out of range."""
        for key in ("lr", "eps", "weight_decay"):
            if key in group and not group[key] >= 0:
                raise OptimizerError(f"{type(self).__name__}: {key} must not be negative, got {group[key]!r}.")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients (or set them to zero)."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad.data.fill(0)

    def step(self, closure: Any = None) -> Any:
        """Update every parameter that has a gradient.

        Args:
            closure: computes the loss and its gradients first, as in torch.

        Returns:
            What the closure returned.
        """
        loss = None if closure is None else closure()
        listener = current_listener()
        for group in self.param_groups:
            update = self.rule(group)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    update(parameter.data, parameter.grad.data, parameter)
            if listener is not None:
                self._tell(listener, group)
        return loss

    def _tell(self, listener: Listener, group: dict[str, Any]) -> None:
        """Announce the update of a group: read parameters, gradients and state; write parameters and state."""
        moved = [p.data for p in group["params"] if p.grad is not None]
        if moved:
            size, nbytes = sum([a.size for a in moved]), sum([a.nbytes for a in moved])
            arrays = 3 + 2 * self.arrays(group)
            listener.primitive(self.name, "optimizer", self.flops * size, arrays * nbytes, moved[0].dtype, None)

    def rule(self, group: dict[str, Any]) -> Update:
        """What changes one parameter in place, with the group's options; a subclass says it."""
        raise NotImplementedError(f"{type(self).__name__} has no rule(): define how it changes a parameter.")

    def arrays(self, group: dict[str, Any]) -> int:
        """How many arrays of state each parameter has."""
        return 0

    def made(self, array: Any) -> Any:
        """Count a new array of state as optimizer memory."""
        listener = current_listener()
        if listener is not None:
            self._tokens.append(listener.allocate(array.nbytes, "optimizer"))
        return array

    # -- state ------------------------------------------------------------------------------------------------------

    def _numbered(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]

    def state_dict(self) -> dict[str, Any]:
        """``{"state": {number: ...}, "param_groups": [...]}`` in torch's form; the arrays are copies."""
        numbers = {id(p): i for i, p in enumerate(self._numbered())}
        groups = [{**group, "params": [numbers[id(p)] for p in group["params"]]} for group in self.param_groups]
        state = {
            numbers[id(p)]: {key: value.copy() if hasattr(value, "copy") else value for key, value in entry.items()}
            for p, entry in self.state.items()
        }
        return {"state": dict(sorted(state.items())), "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and state.

        Raises:
            OptimizerError: other numbers of groups or parameters; nothing has been changed then.
        """
        theirs = state_dict["param_groups"]
        sizes = [len(group["params"]) for group in self.param_groups], [len(group["params"]) for group in theirs]
        if sizes[0] != sizes[1]:
            raise OptimizerError(
                f"{type(self).__name__}: the state dict has groups of {sizes[1]} parameters, this optimizer of {sizes[0]}. Build "
                "it with the same parameters in the same order."
            )
        for mine, other in zip(self.param_groups, theirs, strict=True):
            mine.update({key: value for key, value in other.items() if key != "params"})
        self.state, self._tokens = {}, []
        numbered = self._numbered()
        for number, entry in state_dict["state"].items():
            parameter = numbered[int(number)]
            self.state[parameter] = {key: self._own(value) for key, value in entry.items()}

    def _own(self, value: Any) -> Any:
        array = value.data if isinstance(value, Tensor) else value
        return self.made(array.copy()) if hasattr(array, "nbytes") and not isinstance(array, np.generic) else array

    def __repr__(self) -> str:
        options = [", ".join([f"{k}={v}" for k, v in group.items() if k != "params"]) for group in self.param_groups]
        return f"{type(self).__name__}({' | '.join(options)})"
