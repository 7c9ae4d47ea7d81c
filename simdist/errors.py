"""Which errors does simdist raise, and whose fault is each?

Every error is a lesson: who (rank), when (simulated time), what was expected, what was got, what to try. A mistake of
the person who uses simdist raises one of these classes; a mistake of ours is an ``assert``. Where torch has a class
for the same mistake, ours derives from the same built-in exception, so that code that catches ``RuntimeError`` or
``ValueError`` works.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "AlgorithmError",
    "BufferInUseError",
    "ClusterError",
    "CollectiveMismatchError",
    "DeadlockError",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "DistTimeoutError",
    "EndlessLoopError",
    "GradientError",
    "GroupError",
    "MessageMismatchError",
    "OutOfMemoryError",
    "QueueEmptyError",
    "RankFailedError",
    "ReductionError",
    "ShapeError",
    "SimdistError",
    "StoreOperationError",
    "TraceError",
    "UnknownNameError",
    "nearest",
]


class SimdistError(Exception):
    """The base class of every error that simdist raises on purpose."""


class UnknownNameError(SimdistError, ValueError):
    """A name (of a cluster, backend, exercise, network level ...) that simdist does not know.

    Args:
        what: what kind of name it is, as a noun: ``"cluster"``.
        name: the name as it was given.
        known: every valid name.
        hint: one sentence on what to try, if the nearest names do not say it.
    """

    def __init__(self, what: str, name: object, known: Iterable[str], hint: str = "") -> None:
        self.what, self.name, self.known, self.hint = what, name, sorted(known), hint
        close = nearest(str(name), self.known)
        text = f"there is no {what} named {name!r}."
        text += f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        text += f" Known: {', '.join(self.known)}." if self.known else ""
        super().__init__(f"{text} {hint}".rstrip())

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.what, self.name, self.known, self.hint))


class ClusterError(SimdistError, ValueError):
    """A machine description that cannot be true: the text names the key and the value."""


class AlgorithmError(SimdistError, ValueError):
    """A collective algorithm whose steps do not fit together, or that does not deliver what the collective promises."""


class ShapeError(SimdistError, RuntimeError, ValueError):
    """Arrays whose shapes do not fit together; torch raises RuntimeError here, numpy ValueError: this is both."""


class GradientError(SimdistError, RuntimeError):
    """A gradient that cannot exist: of an integer tensor, of a graph already freed, of a non-scalar root."""


class OutOfMemoryError(SimdistError, RuntimeError):
    """A simulated accelerator has no room left; the text holds the table of who holds what."""


class TraceError(SimdistError, ValueError):
    """A question about what happened in a run, to a run that kept no trace or in which nothing happened."""


class DistError(SimdistError, RuntimeError):
    """Something went wrong between ranks."""


class DistBackendError(DistError):
    """A backend could not do what was asked (not installed, a process lost, a connection refused)."""


class DistNetworkError(DistError):
    """A connection could not be made, or was lost."""


class DistStoreError(DistError):
    """A store was waited for too long, or asked for something that it cannot do."""


class QueueEmptyError(DistStoreError):
    """Nothing is in the queue of a store, and the caller did not want to wait."""


class StoreOperationError(DistStoreError, NotImplementedError):
    """An operation that this kind of store does not have."""


class GroupError(DistError, ValueError, AssertionError):
    """A process group that does not exist, cannot be made as asked, or to which a rank does not belong.

    torch raises ValueError, RuntimeError or AssertionError for these, from case to case: this is all three.
    """


class ReductionError(DistError, ValueError):
    """A reduction that is not defined for the dtype; torch raises RuntimeError or ValueError, this is both."""


class CollectiveMismatchError(DistError):
    """Ranks of one group made different calls at the same place in the order of collectives."""


class MessageMismatchError(CollectiveMismatchError, ValueError):
    """A message met a receive that does not fit it: another dtype or size, or another call altogether.

    Attributes:
        mine: what the rank that raises this says it was doing, where that travels with a message.
        theirs: what the other rank says.
    """

    mine: bytes = b""
    theirs: bytes = b""


class BufferInUseError(DistError):
    """An array was touched while it belonged to an asynchronous operation: between the call and its ``wait()``."""


class DeadlockError(DistError):
    """Nothing can run any more: the text lists every waiting rank, what it waits for, where, and the cycle."""


class DistTimeoutError(DistError, TimeoutError):
    """A rank waited longer than its timeout; the text names what each rank waits for."""


class EndlessLoopError(DistTimeoutError):
    """A rank computed on the host for too long without waiting for anything."""


class RankFailedError(DistError):
    """A rank ended without an exception that could be shown: it was killed, or left before the others."""


def nearest(name: str, known: Iterable[str], count: int = 2) -> list[str]:
    """The valid names that look most like ``name``, best first (may be empty)."""
    return difflib.get_close_matches(name.lower(), list(known), n=count, cutoff=0.5)
