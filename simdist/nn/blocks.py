"""Which parts do models share: multilayer perceptron, self-attention, transformer block?

The block is the pre-norm one of GPT-2 (Radford et al. 2019): x + attention(norm(x)), then x + mlp(norm(x)). Queries, keys and
values come from one fused linear layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from simdist.errors import ShapeError, UnknownNameError
from simdist.tensor import Tensor

from . import functional as F
from .layers import GELU, Dropout, LayerNorm, Linear, ReLU, Sequential, Tanh
from .module import Module

__all__ = ["ACTIVATIONS", "MLP", "MultiheadAttention", "TransformerBlock", "attend"]

ACTIVATIONS: dict[str, Callable[[], Module]] = {
    "relu": ReLU, "tanh": Tanh, "gelu": GELU, "gelu_tanh": lambda: GELU("tanh"),
}  # fmt: skip
"""Activations by name."""


class MLP(Sequential):
    """Linear layers with an activation between them.

    Args:
        sizes: of the layers: ``[64, 128, 10]`` is 64 inputs, 128 hidden units, 10 outputs.
        activation: a key of ``ACTIVATIONS``.
        bias: whether layers have one.
        dtype: of the parameters; None is float32.

    Raises:
        ValueError: fewer than two sizes.
        UnknownNameError: no such activation.
    """

    def __init__(self, sizes: Sequence[int], activation: str = "relu", bias: bool = True, dtype: Any = None) -> None:
        if len(sizes) < 2:
            raise ValueError(
                f"MLP needs at least two sizes, inputs and outputs: MLP([64, 128, 10]); got {list(sizes)}."
            )
        if activation not in ACTIVATIONS:
            raise UnknownNameError("activation", activation, ACTIVATIONS)
        parts: list[Module] = []
        for fan_in, fan_out in pairwise(sizes):
            parts += [ACTIVATIONS[activation]()] if parts else []
            parts.append(Linear(fan_in, fan_out, bias, dtype))
        super().__init__(*parts)


def attend(qkv: Tensor, num_heads: int) -> Tensor:
    """Causal self-attention of all heads: fused (B, T, 3 C) -> (B, T, C).

    Raises:
        ShapeError: not three dimensions.
    """
    if qkv.ndim != 3:
        raise ShapeError(
            f"attention: the input must have three dimensions, (sequences, positions, width), got {qkv.ndim}: "
            f"{(*qkv.shape[:-1], qkv.shape[-1] // 3)}. For one sequence say x.unsqueeze(0)."
        )
    B, T, wide = qkv.shape
    C = wide // 3
    q, k, v = [t.reshape(B, T, num_heads, C // num_heads).transpose(1, 2) for t in qkv.split(C, dim=2)]
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)


def check_heads(embed_dim: int, num_heads: int) -> None:
    """Heads must divide the width.

    Raises:
        ShapeError: they do not.
    """
    if num_heads < 1 or embed_dim % num_heads:
        raise ShapeError(f"attention: {num_heads} heads do not divide a width of {embed_dim}: choose a divisor of it.")


class MultiheadAttention(Module):
    """Causal self-attention with fused queries, keys and values.

    Args:
        embed_dim: width.
        num_heads: must divide it.
        bias: whether the linear layers have one.
        dtype: of the parameters; None is float32.
    """

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True, dtype: Any = None) -> None:
        super().__init__()
        check_heads(embed_dim, num_heads)
        self.num_heads = num_heads
        self.qkv = Linear(embed_dim, 3 * embed_dim, bias, dtype)
        self.proj = Linear(embed_dim, embed_dim, bias, dtype)

    def forward(self, input: Any) -> Any:
        """(B, T, C) -> (B, T, C)."""
        return self.proj(attend(self.qkv(input), self.num_heads))


class TransformerBlock(Module):
    """One pre-norm transformer block.

    Args:
        embed_dim: width.
        num_heads: must divide it.
        mlp_ratio: hidden units of the mlp for each unit of width.
        dropout: probability, after attention and after the mlp.
        approximate: of GELU: ``"none"`` or ``"tanh"``.
        dtype: of the parameters; None is float32.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        mlp_ratio: int = 4,
        dropout: float = 0.0,
        approximate: str = "tanh",
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_heads(embed_dim, num_heads)
        self.num_heads, self.approximate = num_heads, approximate
        self.ln1 = LayerNorm(embed_dim, dtype=dtype)
        self.qkv = Linear(embed_dim, 3 * embed_dim, dtype=dtype)
        self.proj = Linear(embed_dim, embed_dim, dtype=dtype)
        self.ln2 = LayerNorm(embed_dim, dtype=dtype)
        self.fc = Linear(embed_dim, mlp_ratio * embed_dim, dtype=dtype)
        self.out = Linear(mlp_ratio * embed_dim, embed_dim, dtype=dtype)
        self.drop1, self.drop2 = Dropout(dropout), Dropout(dropout)

    def forward(self, input: Any) -> Any:
        """(B, T, C) -> (B, T, C)."""
        x = input
        x = x + self.drop1(self.proj(attend(self.qkv(self.ln1(x)), self.num_heads)))
        return x + self.drop2(self.out(F.gelu(self.fc(self.ln2(x)), self.approximate)))
