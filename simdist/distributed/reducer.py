"""How do gradients become averages while the backward pass still runs?

A hook on each parameter fires when its gradient of this backward pass is complete. The gradient, divided by the
number of ranks, is copied to its place in a bucket. As soon as a bucket is full **and all earlier ones have been
launched**, an asynchronous all-reduce of it is issued on the group's communication stream: it moves while the
backward pass goes on. When the last gradient is there, the rank waits for all buckets and copies the averages back.

Launching strictly in index order is what keeps the ranks in step: gradients may come in another order on another
rank, collectives may not. The order of the gradients in the first iteration (rank 0's) decides the buckets of all
later ones (``bucket``).

Paper: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simdist.errors import DistError
from simdist.tensor import MetaArray, Tensor, no_grad
from simdist.tensor.observe import current_listener

from . import copies, reductions
from .bucket import BucketSpec, first_buckets, rebuilt_buckets
from .group import ProcessGroup
from .work import Work

__all__ = ["Bucket", "Reducer"]


class Bucket:
    """A flat buffer for some gradients, and how far it is in this iteration.

    Attributes:
        spec: what it holds.
        buffer: one-dimensional array of the gradients one after the other.
        views: parameter index -> its part of the buffer.
        missing: number of gradients that have not come yet.
        work: the all-reduce under way, or None.
    """

    def __init__(self, spec: BucketSpec, parameters: Sequence[Tensor]) -> None:
        self.spec = spec
        sizes = [parameters[i].data.size for i in spec.indices]
        is_meta = isinstance(parameters[spec.indices[0]].data, MetaArray)
        self.buffer: Any = MetaArray((sum(sizes),), spec.dtype) if is_meta else np.empty(sum(sizes), spec.dtype)
        starts = np.cumsum([0, *sizes]).tolist()
        self.views = {
            index: self.buffer[start : start + size]
            for index, start, size in zip(spec.indices, starts, sizes, strict=False)
        }
        self.missing = len(spec.indices)
        self.work: Work | None = None
        listener = current_listener()
        self.token = listener.allocate(self.buffer.nbytes, "buckets") if listener is not None else None


class Reducer:
    """The gradient averaging of one module on one rank.

    Args:
        names: the parameters' names, for error texts.
        parameters: the parameters that need gradients, in the order of registration.
        group: the ranks that average.
        bucket_cap_mb: cap of a bucket in MiB; None for torch's default (1 MiB for the first, 25 for the others).
    """

    def __init__(
        self, names: Sequence[str], parameters: Sequence[Tensor], group: ProcessGroup, bucket_cap_mb: float | None
    ) -> None:
        self.names, self.parameters, self.group, self.bucket_cap_mb = (
            list(names),
            list(parameters),
            group,
            bucket_cap_mb,
        )
        self.nbytes = [p.data.nbytes for p in parameters]
        self.dtypes = [p.data.dtype for p in parameters]
        self.buckets = [Bucket(spec, parameters) for spec in first_buckets(self.nbytes, self.dtypes)]
        self.has_rebuilt_buckets = False
        self.num_iterations = 0
        self._bucket_of: dict[int, int] = {}
        self._index_buckets()
        self._arrival: list[int] = []
        self._ready: list[bool] = []
        self._expecting = False
        self._next = 0
        for index, parameter in enumerate(parameters):
            parameter.register_post_accumulate_grad_hook(self._hook(index))

    def _index_buckets(self) -> None:
        self._bucket_of = {index: n for n, bucket in enumerate(self.buckets) for index in bucket.spec.indices}

    # -- one iteration ----------------------------------------------------------------------------------------------

    def prepare_for_backward(self) -> None:
        """Called in each synchronised forward: the next backward pass averages.

        Raises:
            DistError: the last backward pass did not reach all parameters.
        """
        if self._expecting and any(self._ready):
            self._complain()
        if self._arrival and not self.has_rebuilt_buckets and not self._expecting:
            self._rebuild()
        for bucket in self.buckets:
            bucket.missing, bucket.work = len(bucket.spec.indices), None
        self._arrival = [] if not self.has_rebuilt_buckets else self._arrival
        self._ready = [False] * len(self.parameters)
        self._expecting, self._next = True, 0

    def _hook(self, index: int) -> Any:
        def ready(parameter: Tensor) -> None:
            if self._expecting:
                self._mark_ready(index, parameter)

        return ready

    def _mark_ready(self, index: int, parameter: Tensor) -> None:
        if self._ready[index]:
            raise DistError(
                f"rank {self.group.world.rank}: the gradient of {self.names[index]!r} came twice in one backward pass. A "
                "parameter used in several forward passes before one backward needs one DDP forward for all of them."
            )
        self._ready[index] = True
        if not self.has_rebuilt_buckets:
            self._arrival.append(index)
        bucket = self.buckets[self._bucket_of[index]]
        self._copy_in(bucket.views[index], parameter)
        bucket.missing -= 1
        while self._next < len(self.buckets) and not self.buckets[self._next].missing:
            full = self.buckets[self._next]
            full.work = reductions.launch_all_reduce(full.buffer, self.group)
            self._next += 1
        if self._next == len(self.buckets):
            self._finish()

    def _copy_in(self, view: Any, parameter: Tensor) -> None:
        assert parameter.grad is not None
        gradient = parameter.grad.data
        np.divide(gradient.reshape(-1), self.group.size(), out=view)
        listener = current_listener()
        if listener is not None:
            listener.primitive("copy to bucket", "backward", view.size, 2 * view.nbytes, view.dtype, None)

    def _finish(self) -> None:
        """All buckets are launched: wait for each and copy its averages back."""
        self._expecting = False
        self.num_iterations += 1
        listener = current_listener()
        for bucket in self.buckets:
            assert bucket.work is not None
            bucket.work.wait()
            bucket.work = None
            with no_grad():
                for index in bucket.spec.indices:
                    gradient = self.parameters[index].grad
                    assert gradient is not None
                    gradient.data[...] = bucket.views[index].reshape(gradient.data.shape)
            if listener is not None:
                nbytes = 2 * bucket.buffer.nbytes
                listener.primitive("copy from bucket", "backward", 0, nbytes, bucket.spec.dtype, None)

    # -- between iterations -----------------------------------------------------------------------------------------

    def _rebuild(self) -> None:
        """Make the buckets anew in the order in which rank 0's gradients came."""
        order = np.array(self._arrival, dtype=np.int64)
        copies.broadcast(order, group_src=0, group=self.group)
        specs = rebuilt_buckets(order.tolist(), self.nbytes, self.dtypes, self.bucket_cap_mb)
        self.buckets = []  # the old buffers go before the new ones come
        self.buckets = [Bucket(spec, self.parameters) for spec in specs]
        self._index_buckets()
        self.has_rebuilt_buckets = True

    def _complain(self) -> None:
        missing = [name for name, ready in zip(self.names, self._ready, strict=True) if not ready]
        listed = ", ".join(map(repr, missing[:8])) + (", ..." if len(missing) > 8 else "")
        raise DistError(
            f"rank {self.group.world.rank}: expected to have finished the reduction of the last iteration before starting "
            f"a new one, but {len(missing)} of {len(self.names)} parameters got no gradient: {listed}. Every parameter must "
            "take part in the loss on every rank; freeze those that do not (requires_grad_(False)), or take them out of "
            "the module."
        )
