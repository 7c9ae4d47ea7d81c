"""What if MPI's own collectives are wanted?

``sd.run(..., backend="mpi", native_collectives=True)`` hands a collective to the MPI library instead of carrying out the steps of
an algorithm. That is as fast as the library is; the order of the additions is then the library's, so sums of floating-point
numbers promise no equal bits with simulation. What MPI has no word for (half precision, say) goes by steps as usual.

Checked runs compare the calls first: each rank exchanges an empty message with its neighbours, whose note says what it calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from simdist.comm.call import Call
from simdist.comm.execute import divide, tag_of
from simdist.comm.transport import Transport
from simdist.errors import DistTimeoutError

from .endpoint import MpiEndpoint
from .library import communicators, mpi

__all__ = ["Native"]

_OPERATIONS: dict[np.ufunc, str] = {
    np.add: "SUM", np.multiply: "PROD", np.minimum: "MIN", np.maximum: "MAX",
    np.bitwise_and: "BAND", np.bitwise_or: "BOR", np.bitwise_xor: "BXOR",
}  # fmt: skip

_Started = tuple[Any, Callable[[], None]]  # MPI's request, and what remains to be done when it is complete

_KINDS = "iufc"  # integers, floats, complex numbers: what MPI and numpy both know
_LONGEST = 1e-3


class Native:
    """Carries out calls with MPI's collectives.

    Args:
        endpoint: the rank's end: its mutex guards MPI, and its messages move on while a collective is under way.
        checked: compare the calls of neighbours first.
        timeout: seconds that one wait may last, or None.
    """

    def __init__(self, endpoint: MpiEndpoint, checked: bool, timeout: float | None) -> None:
        self._endpoint, self._checked, self._timeout = endpoint, checked, timeout
        self._groups: dict[int, Any] = {}

    def __call__(self, call: Call, transport: Transport) -> bool:
        """Do it, if MPI can; whether it was done."""
        start = self._start_of(call)
        if start is None:
            return False
        if self._checked:
            _exchange(call, transport, 1)
        if call.members.id not in self._groups:
            self._make_group(call, transport)
        request, finish = start()
        self._wait(call, request)
        finish()
        return True

    def _start_of(self, call: Call) -> Callable[[], _Started] | None:
        """What starts it, or None if it is not MPI's to do."""
        request = call.request
        row = _ROWS.get(request.algorithm.collective)
        flat = call.flat
        if row is None or not isinstance(flat, np.ndarray) or request.members.size == 1:
            return None
        operation = None
        if request.combine is not None:
            name = _OPERATIONS.get(request.combine)
            if name is None or flat.dtype.kind not in _KINDS or flat.dtype == np.float16:
                return None
            if name in ("MIN", "MAX") and flat.dtype.kind == "c":
                return None
            operation = getattr(mpi(), name)
        return lambda: row(self._groups[request.members.id], call, operation)

    def _make_group(self, call: Call, transport: Transport) -> None:
        """Make the communicator of the call's group.

        MPI blocks there until all members have come, and nothing could interrupt it: so they meet by our messages first.
        """
        distance = 1
        while distance < transport.size:
            _exchange(call, transport, distance)
            distance *= 2
        world = communicators().control
        tag = call.members.id % (world.Get_attr(mpi().TAG_UB) + 1)  # groups made locally have large numbers
        made = world.Create_group(world.Get_group().Incl(list(call.members.ranks)), tag)
        made.Set_errhandler(mpi().ERRORS_RETURN)
        self._groups[call.members.id] = made

    def _wait(self, call: Call, request: Any) -> None:
        mutex = self._endpoint.mutex
        began, pause, limit = time.monotonic(), 20e-6, self._timeout
        while True:
            with mutex:
                if request.Test():
                    break
            late = self._endpoint.late_error()
            if late is not None:
                raise late
            if limit is not None and time.monotonic() - began > limit:
                raise DistTimeoutError(
                    f"rank {self._endpoint.rank} waited {limit:g} s, its timeout, for: {call.full_label} by MPI itself. "
                    "Without native_collectives=True the text names what every rank waits for."
                )
            self._endpoint.poll()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)


def _exchange(call: Call, transport: Transport, distance: int) -> None:
    """Exchange an empty message with the ranks at this distance on both sides: its note carries what this rank calls."""
    me, size, tag = transport.rank, transport.size, tag_of(call)
    empty = np.empty(0, np.uint8)
    arriving = transport.irecv(empty, (me - distance) % size, tag)
    transport.isend(empty, (me + distance) % size, tag).wait()
    arriving.wait()


# -- the table: collective -> what starts it ----------------------------------------------------------------------------------


def _nothing() -> None:
    return


def _average(call: Call, chunk: Any) -> Callable[[], None]:
    divisor = call.request.divisor
    return (lambda: divide(chunk, divisor)) if divisor else _nothing


def _bytes(arrays: list[Any]) -> tuple[Any, list[int], list[int]]:
    """Arrays one behind the other, as bytes: the buffer, the sizes, where each begins."""
    sizes = [array.nbytes for array in arrays]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    joined = np.concatenate([array.reshape(-1).view(np.uint8) for array in arrays] or [np.empty(0, np.uint8)])
    return joined, sizes, starts


def _pour(joined: Any, starts: list[int], targets: list[Any]) -> None:
    for start, target in zip(starts, targets, strict=True):
        target.reshape(-1).view(np.uint8)[...] = joined[start : start + target.nbytes]


def _all_reduce(comm: Any, call: Call, operation: Any) -> _Started:
    return comm.Iallreduce(mpi().IN_PLACE, call.flat, operation), _average(call, call.flat)


def _reduce(comm: Any, call: Call, operation: Any) -> _Started:
    root = call.request.root
    if comm.rank != root:
        return comm.Ireduce(call.flat, None, operation, root), _nothing
    return comm.Ireduce(mpi().IN_PLACE, call.flat, operation, root), _average(call, call.flat)


def _reduce_scatter(comm: Any, call: Call, operation: Any) -> _Started:
    chunks = [call.chunk(index) for index in range(comm.size)]
    mine = np.empty_like(chunks[comm.rank])
    average = _average(call, mine)

    def finish() -> None:
        average()
        chunks[comm.rank][...] = mine

    return comm.Ireduce_scatter(call.flat, mine, [chunk.size for chunk in chunks], operation), finish


def _broadcast(comm: Any, call: Call, operation: Any) -> _Started:
    return comm.Ibcast([call.flat, mpi().BYTE], call.request.root), _nothing


def _all_gather(comm: Any, call: Call, operation: Any) -> _Started:
    _, sizes, starts = _bytes([call.chunk(index) for index in range(comm.size)])
    return comm.Iallgatherv(mpi().IN_PLACE, [call.flat, sizes, starts, mpi().BYTE]), _nothing


def _gather(comm: Any, call: Call, operation: Any) -> _Started:
    root, byte = call.request.root, mpi().BYTE
    mine = [call.flat, byte]
    if comm.rank != root:
        return comm.Igather(mine, None, root), _nothing
    targets = [call.chunk(index) for index in range(comm.size)]
    joined, _, starts = _bytes(targets)
    return comm.Igather(mine, [joined, byte], root), lambda: _pour(joined, starts, targets)


def _scatter(comm: Any, call: Call, operation: Any) -> _Started:
    root, byte = call.request.root, mpi().BYTE
    mine = call.chunk(comm.rank)
    if comm.rank != root:
        return comm.Iscatter(None, [mine, byte], root), _nothing
    joined, _, _ = _bytes([call.chunk(index) for index in range(comm.size)])
    return comm.Iscatter([joined, byte], [np.empty_like(mine), byte], root), _nothing


def _all_to_all(comm: Any, call: Call, operation: Any) -> _Started:
    me, size, byte = comm.rank, comm.size, mpi().BYTE
    empty = call.flat[:0]  # the own block is not the collective's business
    leaving = [call.chunk(me * size + peer) if peer != me else empty for peer in range(size)]
    targets = [call.chunk(peer * size + me) if peer != me else empty for peer in range(size)]
    sent, sizes, starts = _bytes(leaving)
    got, expected, places = _bytes(targets)
    request = comm.Ialltoallv([sent, sizes, starts, byte], [got, expected, places, byte])
    return request, lambda: _pour(got, places, targets)


def _barrier(comm: Any, call: Call, operation: Any) -> _Started:
    return comm.Ibarrier(), _nothing


_ROWS: dict[str, Callable[[Any, Call, Any], _Started]] = {
    "all_reduce": _all_reduce, "reduce": _reduce, "reduce_scatter": _reduce_scatter, "broadcast": _broadcast,
    "all_gather": _all_gather, "gather": _gather, "scatter": _scatter, "all_to_all": _all_to_all, "barrier": _barrier,
}  # fmt: skip
