"""torch.utils.checkpoint's name for activation checkpointing (``tensor.checkpoint`` says how it works)."""

from simdist.tensor.checkpoint import checkpoint

__all__ = ["checkpoint"]
