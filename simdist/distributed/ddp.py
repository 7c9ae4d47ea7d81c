"""How does one model train on many ranks at once?

``DistributedDataParallel`` wraps a module that every rank has a copy of. At the start rank 0's parameters and buffers
are sent to all. Then each rank computes the gradients of its own part of the batch, the ``reducer`` averages them
during the backward pass, and every rank's optimizer takes the same step. Parameters are never sent again: replicas
stay equal because their start, their gradients and their optimizers are.

With a mean loss and equal parts the average is the gradient of the whole batch. With unequal parts it is the mean of
the parts' means, not the mean over the samples (as in torch).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from simdist.errors import DistError
from simdist.nn import Module
from simdist.tensor import MetaArray, Tensor, is_grad_enabled, no_grad
from simdist.units import MiB

from . import copies
from .group import ProcessGroup
from .group import resolve as resolve_group
from .reducer import Reducer

__all__ = ["DistributedDataParallel"]

_BROADCAST_BYTES = 250 * MiB


class DistributedDataParallel(Module):
    """Train ``module`` on all ranks of a group with averaged gradients.

    Args:
        module: has at least one parameter that needs gradients; equal structure on all ranks.
        process_group: None for the world.
        bucket_cap_mb: how many MiB of gradients are reduced together; None: 1 for the first bucket, 25 for the others.
        broadcast_buffers: send rank 0's buffers to all at each synchronised forward.
        init_sync: send rank 0's parameters and buffers to all now.

    Attributes:
        module: the wrapped module (attributes of it are not passed through, as in torch).
        require_backward_grad_sync: False inside ``no_sync``.

    Raises:
        DistError: no parameter needs a gradient; the ranks' parameters differ in number or shape; outside a run.
    """

    def __init__(
        self,
        module: Module,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
    ) -> None:
        super().__init__()
        self.process_group = resolve_group(process_group, "DistributedDataParallel")
        self.module = module
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        rank = self.process_group.world.rank
        if not named:
            raise DistError(
                f"rank {rank}: DistributedDataParallel needs a module with at least one parameter that requires a gradient;"
                f" {type(module).__name__} has none. Use the module itself."
            )
        if bucket_cap_mb is not None and not bucket_cap_mb > 0:
            raise ValueError(f"bucket_cap_mb must be a positive number of MiB, got {bucket_cap_mb!r}.")
        self.broadcast_buffers = broadcast_buffers
        self.require_backward_grad_sync = True
        self._verify_shapes(named)
        if init_sync:
            self._broadcast([p.data for p in module.parameters()] + [b.data for b in module.buffers()])
        names, parameters = zip(*named, strict=True)
        self.reducer = Reducer(names, parameters, self.process_group, bucket_cap_mb)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the wrapped module; in a synchronised forward the next backward pass averages the gradients."""
        if self.require_backward_grad_sync:
            if is_grad_enabled():
                self.reducer.prepare_for_backward()
            if self.broadcast_buffers:
                self._broadcast([b.data for b in self.module.buffers()])
        return self.module(*args, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Gradients of forward passes inside the block are accumulated locally; the next one outside reduces the total.

        The *forward* must be inside (as in torch): it decides whether its backward pass averages.
        """
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    # -- the start --------------------------------------------------------------------------------------------------

    def _verify_shapes(self, named: Sequence[tuple[str, Tensor]]) -> None:
        """All ranks must have the same parameters; tell who has not, before anything is reduced."""
        mine = np.array([[p.data.ndim, p.data.size, *_first_two(p.data.shape)] for _, p in named], dtype=np.int64)
        count = np.array([len(named)], dtype=np.int64)
        counts = np.zeros(self.process_group.size(), dtype=np.int64)
        copies.all_gather_into_tensor(counts, count, group=self.process_group)
        rank = self.process_group.world.rank
        if (counts != count[0]).any():
            raise DistError(
                f"rank {rank}: DistributedDataParallel: the ranks have {counts.tolist()} parameters. Every rank must build "
                "the same model."
            )
        everyone = np.zeros((len(counts), *mine.shape), dtype=np.int64)
        copies.all_gather_into_tensor(everyone, mine, group=self.process_group)
        for other, theirs in enumerate(everyone):
            for (name, parameter), a, b in zip(named, mine, theirs, strict=True):
                if (a != b).any():
                    raise DistError(
                        f"rank {rank}: DistributedDataParallel: parameter {name!r} is {parameter.data.shape} here, but has "
                        f"{int(b[0])} dimensions and {int(b[1])} elements on group rank {other}. Every rank must build the "
                        "same model."
                    )

    def _broadcast(self, arrays: list[Any]) -> None:
        """Give every rank rank 0's values, many arrays in one message (up to 250 MiB)."""
        with no_grad():
            for chunk in _coalesce(arrays):
                if isinstance(chunk[0], MetaArray):
                    flat: Any = MetaArray((sum(a.size for a in chunk),), chunk[0].dtype)
                else:
                    flat = np.concatenate([a.reshape(-1) for a in chunk])
                copies.broadcast(flat, group_src=0, group=self.process_group)
                start = 0
                for array in chunk:
                    array[...] = flat[start : start + array.size].reshape(array.shape)
                    start += array.size


def _first_two(shape: tuple[int, ...]) -> tuple[int, int]:
    return (*shape, 0, 0)[0], (*shape, 0, 0)[1]


def _coalesce(arrays: list[Any]) -> Iterator[list[Any]]:
    """Runs of arrays of one dtype of at most 250 MiB (a single larger array is a run of its own)."""
    chunk: list[Any] = []
    size = 0
    for array in arrays:
        if chunk and (array.dtype != chunk[0].dtype or size + array.nbytes > _BROADCAST_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(array)
        size += array.nbytes
    if chunk:
        yield chunk
