"""What if a wait does not end?

Either it outlasts its timeout, or the rank it waits for has returned. Both errors carry what the rank was waiting for, so
that the caller can put the reports of all ranks side by side.
"""

from __future__ import annotations

from simdist.errors import DeadlockError, DistTimeoutError

__all__ = ["ExpiredError", "StrandedError"]


class ExpiredError(DistTimeoutError):
    """A wait lasted longer than its timeout.

    Attributes:
        waits: what the threads of this rank waited for, one line each.
    """

    waits: tuple[str, ...] = ()


class StrandedError(DeadlockError, DistTimeoutError):
    """A rank waits for a rank that has returned: it would wait for ever, so it is told at once.

    It is a deadlock (as the simulator calls it) that a time-out would have ended; code that catches either catches it.

    Attributes:
        waits: what the rank waited for, one line.
    """

    waits: tuple[str, ...] = ()
