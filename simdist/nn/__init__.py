"""What is trained?

Modules, parameters, layers and losses under torch's names; ``nn.functional`` has the functions. ``nn.parallel`` is a chapter of
its own (it talks to other ranks) and is imported by name.
"""

from . import functional, utils
from .blocks import MLP, MultiheadAttention, TransformerBlock
from .layers import (
    GELU,
    CrossEntropyLoss,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    LayerNorm,
    Linear,
    ModuleList,
    MSELoss,
    ReLU,
    Sequential,
    Tanh,
)
from .module import Module, StateDictError
from .parameter import Parameter

__all__ = [
    "GELU", "MLP", "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "Identity", "LayerNorm", "Linear", "MSELoss",
    "Module", "ModuleList", "MultiheadAttention", "Parameter", "ReLU", "Sequential", "StateDictError", "Tanh",
    "TransformerBlock", "functional", "utils",
]  # fmt: skip
