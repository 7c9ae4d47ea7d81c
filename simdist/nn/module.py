"""What is a module?

A tree of named parts. Assigning a Parameter, a Module or (with ``register_buffer``) a tensor to an attribute makes it a part; the
dotted path from the root is its name. Names, order and methods are torch's: parts are listed in the order of assignment, a tensor
that two parts share is listed once, under its first name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from simdist.errors import SimdistError
from simdist.tensor import Tensor, no_grad

from .parameter import Parameter

__all__ = ["Module", "StateDictError"]

Self = TypeVar("Self", bound="Module")


class StateDictError(SimdistError, RuntimeError):
    """A state dict that does not fit the module: the text lists every missing, unexpected and misshapen entry."""


class Module:
    """The base of everything that has parameters.

    Attributes:
        training: dropout and the like are on.
    """

    training: bool

    def __init__(self) -> None:
        put = object.__setattr__
        put(self, "_parameters", {})
        put(self, "_buffers", {})
        put(self, "_transient", set())
        put(self, "_modules", {})
        put(self, "_is_addressed", False)
        put(self, "training", True)

    # -- attributes -------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if "_modules" not in self.__dict__:
            raise SimdistError(
                f"{type(self).__name__}: call super().__init__() before assigning {name!r}: it makes the lists of parts."
            )
        tables: tuple[dict[str, Any], ...] = (self._parameters, self._modules, self._buffers)
        kind = 0 if isinstance(value, Parameter) else 1 if isinstance(value, Module) else 2
        for index, table in enumerate(tables):
            if index != kind and name in table and not (value is None and index != 1):
                del table[name]
        if kind < 2:
            self.__dict__.pop(name, None)
            tables[kind][name] = value
            self._attached(name, value)
        elif any(name in table for table in tables):
            next(table for table in tables if name in table)[name] = value
        else:
            object.__setattr__(self, name, value)

    def _attached(self, name: str, value: Any) -> None:
        object.__setattr__(self, "_is_addressed", False)
        for parameter in [value] if isinstance(value, Parameter) else [p for _, p in value._walk_parameters()]:
            parameter.prefix(name)

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_modules", "_buffers"):
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._modules, self._buffers):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter (None: a place that stays empty)."""
        if param is None:
            self._parameters[name] = None
        else:
            setattr(self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is no parameter but belongs to the state (statistics, masks).

        Args:
            name: of the attribute.
            tensor: the buffer, or None.
            persistent: whether the state dict holds it.

        Raises:
            ValueError: the name is taken, or is no attribute name.
        """
        if not name.isidentifier():
            raise ValueError(f"register_buffer: {name!r} cannot be the name of an attribute.")
        if hasattr(self, name) and name not in self._buffers:
            raise ValueError(f"register_buffer: {type(self).__name__} already has an attribute {name!r}.")
        self._buffers[name] = tensor
        if not persistent:
            self._transient.add(name)

    def add_module(self, name: str, module: Module) -> None:
        """Add a part under ``name``."""
        setattr(self, name, module)

    # -- the tree ---------------------------------------------------------------------------------------------------

    def named_modules(self, prefix: str = "", _seen: dict[int, None] | None = None) -> Iterator[tuple[str, Module]]:
        """The module itself and all parts below it, each once."""
        seen = {} if _seen is None else _seen
        if id(self) in seen:
            return
        seen[id(self)] = None
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(f"{prefix}.{name}" if prefix else name, seen)

    def modules(self) -> Iterator[Module]:
        """The module itself and all parts below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The parts directly below."""
        return ((name, module) for name, module in self._modules.items() if module is not None)

    def children(self) -> Iterator[Module]:
        """The parts directly below."""
        return (module for _, module in self.named_children())

    def _walk_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        seen: dict[int, None] = {}
        for path, module in self.named_modules(prefix):
            for name, parameter in module._parameters.items():
                if parameter is not None and id(parameter) not in seen:
                    seen[id(parameter)] = None
                    yield (f"{path}.{name}" if path else name), parameter

    def fix_addresses(self) -> None:
        """Settle from which addresses parameters that were not drawn yet take their first values: their names below here."""
        if not self._is_addressed:
            for name, parameter in self._walk_parameters():
                parameter.fix(name)
            for path, module in self.named_modules():
                module.settle(path)
            object.__setattr__(self, "_is_addressed", True)

    def settle(self, path: str) -> None:
        """Called with the module's name below the root, once that is known; dropout draws its masks from it."""

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Names and parameters; one that is shared is listed once, under its first name."""
        self.fix_addresses()
        if recurse:
            yield from self._walk_parameters(prefix)
        else:
            start = f"{prefix}." if prefix else ""
            yield from ((start + name, p) for name, p in self._parameters.items() if p is not None)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, shared ones once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Names and buffers."""
        for path, module in self.named_modules(prefix):
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    yield (f"{path}.{name}" if path else name), buffer

    def buffers(self) -> Iterator[Tensor]:
        """All buffers."""
        return (buffer for _, buffer in self.named_buffers())

    # -- running ----------------------------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; a subclass says it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward(): define what it computes.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Settle the addresses once, then compute."""
        if not self._is_addressed:
            self.fix_addresses()
        return self.forward(*args, **kwargs)

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` on every part, the innermost first, and on the module itself."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self: Self, mode: bool = True) -> Self:
        """Switch dropout and the like on."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self: Self) -> Self:
        """Switch dropout and the like off."""
        return self.train(False)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients (or set them to zero)."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Freeze or unfreeze all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def to(self: Self, dtype: Any) -> Self:
        """Floating point parameters and buffers in another dtype; the tensors stay the same objects."""
        kind = np.dtype(dtype)
        for tensor in [*self.parameters(), *self.buffers()]:
            if tensor.data.dtype.kind == "f":
                tensor.data = tensor.data.astype(kind)
                if tensor.grad is not None:
                    tensor.grad.data = tensor.grad.data.astype(kind)
        return self

    def float(self: Self) -> Self:
        """All floating point numbers as float32."""
        return self.to(np.float32)

    def double(self: Self) -> Self:
        """All floating point numbers as float64."""
        return self.to(np.float64)

    # -- state ------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Tensor]:
        """Name -> tensor (sharing memory, off the tape) for parameters and persistent buffers; shared ones under each name."""
        self.fix_addresses()
        return {name: tensor.detach() for name, tensor in self._state()}

    def _state(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        for name, parameter in self._parameters.items():
            if parameter is not None:
                yield prefix + name, parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._transient:
                yield prefix + name, buffer
        for name, module in self._modules.items():
            if module is not None:
                yield from module._state(f"{prefix}{name}.")

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> tuple[list[str], list[str]]:
        """Overwrite parameters and buffers in place.

        Args:
            state_dict: name -> tensor or array.
            strict: names must be the same on both sides.

        Returns:
            The missing and the unexpected names (both empty if strict).

        Raises:
            StateDictError: names or shapes do not fit; nothing has been changed then.
        """
        self.fix_addresses()
        own = dict(self._state())
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = [
            f"{name} is {own[name].shape} here and {tuple(state_dict[name].shape)} there"
            for name in own
            if name in state_dict and tuple(state_dict[name].shape) != own[name].shape
        ]
        lines = [f"missing: {', '.join(missing)}"] if strict and missing else []
        lines += [f"unexpected: {', '.join(unexpected)}"] if strict and unexpected else []
        lines += [f"shape: {'; '.join(wrong)}"] if wrong else []
        if lines:
            raise StateDictError(
                f"the state dict does not fit {type(self).__name__}: "
                + " | ".join(lines)
                + ". Load it into a module built "
                "with the same arguments, or say strict=False to skip names that only one side has."
            )
        with no_grad():
            for name, tensor in own.items():
                if name in state_dict:
                    tensor.copy_(state_dict[name])
        return missing, unexpected

    # -- text -------------------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What the text of the module says in its brackets."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        head = f"{type(self).__name__}({self.extra_repr()}"
        return head + ("\n  " + "\n  ".join(lines) + "\n)" if lines else ")")
