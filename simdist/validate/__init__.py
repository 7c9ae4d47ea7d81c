"""Is it true? Measured numbers beside computed ones.

Each module answers for one kind of measurement: how it was measured, what the model makes of it, how far off it is, and where
it must not be trusted. Nothing here tunes anything: what is fitted is fitted to one half of the numbers and judged by the other.

``nccl``: times of all-reduces on two kinds of machines.
"""

from .nccl import nccl

__all__ = ["nccl"]
