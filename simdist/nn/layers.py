"""Which layers are there?

Each is a name for one function of ``functional`` with its parameters. First values have torch's distributions: uniform within
1 / sqrt(inputs) for linear layers (Kaiming's rule with a = sqrt(5) gives the same bound), standard normal for embeddings, 1 and 0
for normalisation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from simdist.tensor import Tensor, random
from simdist.tensor.checkpoint import remembered

from . import functional as F
from .module import Module
from .parameter import Parameter

__all__ = [
    "GELU", "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "Identity", "LayerNorm", "Linear", "MSELoss",
    "ModuleList", "ReLU", "Sequential", "Tanh",
]  # fmt: skip


class Linear(Module):
    """y = x W^T + b.

    Args:
        in_features: size of the last dimension of x.
        out_features: of y.
        bias: whether there is b.
        dtype: of the parameters; None is float32.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1.0 / math.sqrt(in_features) if in_features else 0.0
        self.weight = Parameter.drawn((out_features, in_features), "uniform", bound, dtype)
        if bias:
            self.bias = Parameter.drawn((out_features,), "uniform", bound, dtype)
        else:
            self.register_parameter("bias", None)

    def forward(self, input: Any) -> Tensor:
        """(.., in) -> (.., out)."""
        parameters = self._parameters
        return F.linear(input, parameters["weight"], parameters["bias"])

    def extra_repr(self) -> str:
        """Sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """A table of vectors.

    Args:
        num_embeddings: rows.
        embedding_dim: length of a row.
        dtype: of the table; None is float32.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = None) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = Parameter.drawn((num_embeddings, embedding_dim), "normal", 1.0, dtype)

    def forward(self, input: Any) -> Tensor:
        """Indices (..) -> (.., dim)."""
        return F.embedding(input, self.weight)

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.num_embeddings}, {self.embedding_dim}"


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions, then a learned scale and shift.

    Args:
        normalized_shape: the last dimension, or dimensions.
        eps: added to the variance.
        dtype: of the parameters; None is float32.
    """

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-5, dtype: Any = None) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps = shape, eps
        self.weight = Parameter.drawn(shape, "constant", 1.0, dtype)
        self.bias = Parameter.drawn(shape, "constant", 0.0, dtype)

    def forward(self, input: Any) -> Tensor:
        """Same shape."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.normalized_shape}, eps={self.eps}"


class Dropout(Module):
    """Set elements to 0 with probability p while training.

    The mask's address is the module's name in the model and the number of the call since the seed was set, so masks differ
    between calls and modules, are the same on every run with the same seed, and begin again with ``sd.manual_seed``.

    Args:
        p: probability, from 0 to 1; 1 leaves nothing but zeros.

    Attributes:
        address: the module's name below the first root that was called or asked for its parameters.

    Raises:
        ValueError: no such probability.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p, self.address = F.probability(p), ""

    def settle(self, path: str) -> None:
        """The name is known; the first one stays."""
        self.address = self.address or path

    def forward(self, input: Any) -> Tensor:
        """Same shape."""
        if not self.training or self.p == 0.0:
            return F.dropout(input, self.p, False)
        seed, call = remembered(self._draw)
        return F.dropout(input, self.p, True, f"{self.address}/dropout/{call}", seed=seed)

    def _draw(self) -> tuple[int, int]:
        generator = random.current_generator()
        return generator.seed, generator.next_call(self)

    def extra_repr(self) -> str:
        """Probability."""
        return f"p={self.p}"


class ReLU(Module):
    """Each element, or 0 if it is negative."""

    def forward(self, input: Any) -> Tensor:
        """Same shape."""
        return F.relu(input)


class Tanh(Module):
    """Hyperbolic tangent."""

    def forward(self, input: Any) -> Tensor:
        """Same shape."""
        return F.tanh(input)


class GELU(Module):
    """x Phi(x), or the formula with tanh.

    Args:
        approximate: ``"none"`` or ``"tanh"``.
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Tensor:
        """Same shape."""
        return F.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        """Which formula."""
        return f"approximate={self.approximate!r}"


class Identity(Module):
    """What comes in."""

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class Flatten(Module):
    """All dimensions but the first become one."""

    def forward(self, input: Any) -> Tensor:
        """(n, ..) -> (n, product)."""
        array = input if isinstance(input, Tensor) else Tensor(np.asarray(input))
        return array.flatten(1)


class CrossEntropyLoss(Module):
    """Minus the log-probability of the right class.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Any, target: Any) -> Tensor:
        """Logits (rows, classes) and class numbers (rows,)."""
        return F.cross_entropy(input, target, self.reduction)


class MSELoss(Module):
    """The squared difference.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Any, target: Any) -> Tensor:
        """Two tensors of one shape."""
        return F.mse_loss(input, target, self.reduction)


class ModuleList(Module):
    """Modules in a list; they are called by whoever holds the list.

    Args:
        modules: the first ones.
    """

    def __init__(self, modules: Sequence[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> ModuleList:
        """Add one at the end."""
        setattr(self, str(len(self._modules)), module)
        return self

    def __getitem__(self, index: Any) -> Any:
        parts = list(self._modules.values())
        return type(self)(parts[index]) if isinstance(index, slice) else parts[index]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(list(self._modules.values()))


class Sequential(Module):
    """Modules one after the other: each gets what the one before returns.

    Args:
        modules: in order.
    """

    def __init__(self, *modules: Module) -> None:
        super().__init__()
        for index, module in enumerate(modules):
            setattr(self, str(index), module)

    def forward(self, input: Any) -> Any:
        """Through all of them."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        parts = list(self._modules.values())
        return Sequential(*parts[index]) if isinstance(index, slice) else parts[index]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(list(self._modules.values()))
