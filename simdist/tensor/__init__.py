"""What is computed?

Tensors over numpy arrays or over shapes without data, a table of primitives with flops, bytes and gradient rules, and a tape. The
package knows neither clocks nor ranks: it announces what it does to a listener, if there is one (``observe``).
"""

from . import random
from .autograd import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .checkpoint import checkpoint
from .functions import (
    arange,
    cat,
    concatenate,
    empty,
    from_numpy,
    full,
    maximum,
    ones,
    ones_like,
    rand,
    randn,
    stack,
    tensor,
    where,
    zeros,
    zeros_like,
)
from .meta import MetaArray
from .random import manual_seed
from .tensor import Tensor, apply, as_tensor

__all__ = [
    "MetaArray", "Tensor", "apply", "arange", "as_tensor", "cat", "checkpoint", "concatenate", "empty", "enable_grad",
    "from_numpy", "full", "is_grad_enabled", "manual_seed", "maximum", "no_grad", "ones", "ones_like", "rand", "randn",
    "random", "set_grad_enabled", "stack", "tensor", "where", "zeros", "zeros_like",
]  # fmt: skip
