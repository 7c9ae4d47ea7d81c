"""What is a GPT, whole and in stages?

Token and position embeddings, pre-norm transformer blocks, a final norm, a head (GPT-2: Radford et al. 2019). The head may
share its weight with the token embedding (``tied``).

``stages`` cuts the model into contiguous parts for a pipeline: embeddings in the first, head in the last, blocks spread evenly
(the first parts get one more). Chaining the parts computes what the whole computes; the parts share the whole's parameters,
and parameters that were not drawn yet keep the whole's addresses, so a rank that only touches its part draws only that.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from simdist.errors import ShapeError, SimdistError, UnknownNameError
from simdist.nn import Embedding, LayerNorm, Linear, Module, ModuleList, TransformerBlock
from simdist.nn import functional as F
from simdist.tensor import Tensor, arange, checkpoint

__all__ = ["GPT", "GPTConfig", "GPTConfigError", "GPTOptionError", "GPTStage"]


class GPTConfigError(SimdistError, ValueError):
    """Sizes that no GPT can have: the text names the field and the value."""


class GPTOptionError(UnknownNameError, TypeError):
    """A keyword that is no field of ``GPTConfig`` (Python's own error for a wrong keyword is a TypeError: this is one too)."""


@dataclass(frozen=True)
class GPTConfig:
    """The sizes of a GPT.

    Attributes:
        vocab_size: number of tokens.
        block_size: longest sequence.
        n_layer: number of blocks.
        n_head: heads of each attention; must divide n_embd.
        n_embd: width.
        dropout: probability inside the blocks.
        gelu: ``"tanh"`` or ``"none"`` (exact).
        tied: the head's weight is the token embedding's.
        checkpoint: keep only the blocks' inputs and run each block again in the backward pass.
        dtype: of the parameters.

    Raises:
        GPTConfigError: a size that is no whole number or too small, a width that the heads do not divide, no probability, a dtype
            that is not floating point.
        UnknownNameError: no such kind of ``gelu``.
    """

    vocab_size: int = 64
    block_size: int = 16
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 32
    dropout: float = 0.0
    gelu: str = "tanh"
    tied: bool = False
    checkpoint: bool = False
    dtype: str = "float32"

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            size = getattr(self, name)
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < least:
                raise GPTConfigError(f"GPT: {name} must be a whole number of at least {least}, got {size!r}.")
        if self.n_embd % self.n_head:
            heads = [str(n) for n in range(1, self.n_embd + 1) if self.n_embd % n == 0]
            near = sorted(heads, key=lambda n: (abs(int(n) - self.n_head), int(n)))[:3]
            raise GPTConfigError(
                f"GPT: n_embd={self.n_embd} cannot be shared among n_head={self.n_head} heads: each head gets n_embd / n_head "
                f"numbers. Choose n_head={' or '.join(near)}, or a multiple of {self.n_head} as n_embd."
            )
        if not 0.0 <= self.dropout <= 1.0:
            raise GPTConfigError(f"GPT: dropout is a probability, so it must be from 0 to 1, got {self.dropout!r}.")
        if self.gelu not in F.GELUS:
            raise UnknownNameError("approximation of gelu", self.gelu, F.GELUS)
        if np.dtype(self.dtype).kind != "f":
            raise GPTConfigError(f"GPT: parameters are floating point numbers, got dtype={self.dtype!r}.")


_LEAST = {"vocab_size": 1, "block_size": 1, "n_layer": 0, "n_head": 1, "n_embd": 1}
"""The smallest value of each size."""


def _config(config: GPTConfig | None, options: dict[str, Any]) -> GPTConfig:
    """The config given, or one of the keywords."""
    known = [field.name for field in fields(GPTConfig)]
    for name in options:
        if name not in known:
            raise GPTOptionError("option of GPT", name, known)
    if config is None:
        return GPTConfig(**options)
    if not isinstance(config, GPTConfig):
        raise GPTConfigError(f"GPT: the first argument is a GPTConfig, got {config!r}: say GPT(n_layer=4, n_embd=64).")
    if options:
        raise GPTConfigError(
            f"GPT: got a config and also {', '.join(options)}: which one counts? Say GPT(dataclasses.replace(config, ...))."
        )
    return config


class GPTStage(Module):
    """A contiguous part of a GPT.

    Args:
        config: of the whole.
        wte: token embedding, if the part has it.
        wpe: position embedding, if the part has it.
        blocks: number in the whole -> block.
        lnf: final norm, if the part has it.
        head: head, if the part has it.
    """

    def __init__(
        self,
        config: GPTConfig,
        wte: Embedding | None,
        wpe: Embedding | None,
        blocks: dict[int, Module],
        lnf: LayerNorm | None,
        head: Linear | None,
    ) -> None:
        super().__init__()
        self.config = config
        if wte is not None and wpe is not None:
            self.wte, self.wpe = wte, wpe
        self.h = ModuleList()
        for number, block in blocks.items():
            self.h.add_module(str(number), block)
        if lnf is not None and head is not None:
            self.lnf, self.head = lnf, head

    def forward(self, input: Any) -> Any:
        """Tokens (B, T) or activations (B, T, C) -> activations or logits (B, T, vocabulary)."""
        x = self.embed(input) if "wte" in self._modules else input
        for block in self.h:
            x = checkpoint(block, x) if self.config.checkpoint else block(x)
        return self.head(self.lnf(x)) if "head" in self._modules else x

    def embed(self, tokens: Any) -> Tensor:
        """Tokens (B, T) -> (B, T, C).

        Raises:
            ShapeError: not two dimensions, or a longer sequence than the model has positions.
            IndexError: a token that is not in the vocabulary.
        """
        tokens = tokens if hasattr(tokens, "shape") else np.asarray(tokens)
        if len(tokens.shape) != 2:
            raise ShapeError(
                f"GPT: tokens must have two dimensions, (sequences, positions), got shape {tuple(tokens.shape)}: for one "
                "sequence say tokens.reshape(1, -1)."
            )
        length = tokens.shape[-1]
        if length > self.config.block_size:
            raise ShapeError(
                f"GPT: a sequence of {length} tokens, but the model has {self.config.block_size} positions: cut it, or build the "
                f"model with block_size={length}."
            )
        try:
            vectors = self.wte(tokens)
        except IndexError as error:
            raise IndexError(
                f"GPT: a token is not in the vocabulary (vocab_size={self.config.vocab_size}, the table's num_embeddings): "
                f"{error}"
            ) from None
        x: Tensor = vectors + self.wpe(arange(length))
        return x


class GPT(GPTStage):
    """A GPT.

    Args:
        config: its sizes, or None to give them as keywords.
        options: fields of ``GPTConfig``: ``GPT(n_layer=4, tied=True)``.

    Raises:
        GPTOptionError: a keyword that is no field of ``GPTConfig``.
        GPTConfigError: a config and keywords, or what ``GPTConfig`` refuses.
    """

    def __init__(self, config: GPTConfig | None = None, **options: Any) -> None:
        c = _config(config, options)
        wte, wpe = Embedding(c.vocab_size, c.n_embd, c.dtype), Embedding(c.block_size, c.n_embd, c.dtype)
        blocks: dict[int, Module] = {
            number: TransformerBlock(c.n_embd, c.n_head, dropout=c.dropout, approximate=c.gelu, dtype=c.dtype)
            for number in range(c.n_layer)
        }
        head = Linear(c.n_embd, c.vocab_size, bias=False, dtype=c.dtype)
        super().__init__(c, wte, wpe, blocks, LayerNorm(c.n_embd, dtype=c.dtype), head)
        if c.tied:
            self.head.weight = self.wte.weight

    def loss(self, tokens: Any, targets: Any) -> Tensor:
        """Mean cross entropy of all positions: tokens and targets (B, T).

        Raises:
            ShapeError: tokens and targets of different shapes, or what ``embed`` refuses.
            IndexError: a token or a target that is not in the vocabulary.
        """
        tokens, targets = [part if hasattr(part, "shape") else np.asarray(part) for part in (tokens, targets)]
        if tuple(tokens.shape) != tuple(targets.shape):
            raise ShapeError(
                f"GPT.loss: one target for each token is needed, got tokens {tuple(tokens.shape)} and targets "
                f"{tuple(targets.shape)}: of one text, tokens are text[:, :-1] and targets text[:, 1:]."
            )
        logits = self(tokens)
        return F.cross_entropy(logits.reshape(-1, self.config.vocab_size), targets.reshape(-1))

    def stages(self, n: int) -> list[GPTStage]:
        """Cut the model into ``n`` contiguous parts that share its parameters.

        Raises:
            ValueError: more parts than blocks, or none.
        """
        layers = self.config.n_layer
        if not 1 <= n <= max(layers, 1):
            raise ValueError(
                f"GPT.stages({n}): a model of {layers} blocks can be cut into 1 to {max(layers, 1)} parts."
            )
        self.fix_addresses()
        parts, start = [], 0
        blocks = list(self.h)
        for index in range(n):
            end = start + layers // n + (1 if index < layers % n else 0)
            inner = {number: blocks[number] for number in range(start, end)}
            wte, wpe = (self.wte, self.wpe) if index == 0 else (None, None)
            lnf, head = (self.lnf, self.head) if index == n - 1 else (None, None)
            parts.append(GPTStage(self.config, wte, wpe, inner, lnf, head))
            start = end
        return parts
