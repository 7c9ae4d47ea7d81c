"""What if a wait does not end?

Either it outlasts its timeout, or the rank it waits for has returned. Both errors carry what the rank was waiting for, so
that the caller can put the reports of all ranks side by side; if they then contradict each other, that is the reason.
"""

from __future__ import annotations

from simdist.backends.process.claim import Claim
from simdist.errors import CollectiveMismatchError, DeadlockError, DistTimeoutError

__all__ = ["DisagreementError", "ExpiredError", "StrandedError"]


class ExpiredError(DistTimeoutError):
    """A wait lasted longer than its timeout.

    Attributes:
        waits: what the threads of this rank waited for, one line each.
        claims: what the rank had posted that nobody had taken.
    """

    waits: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()


class StrandedError(DeadlockError, DistTimeoutError):
    """A rank waits for a rank that has returned: it would wait for ever, so it is told at once.

    It is a deadlock (as the simulator calls it) that a time-out would have ended; code that catches either catches it.

    Attributes:
        waits: what the rank waited for, one line.
        claims: what the rank had posted that nobody had taken.
    """

    waits: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()


class DisagreementError(CollectiveMismatchError, DeadlockError, DistTimeoutError):
    """Ranks waited in vain because they called different collectives: known only when their reports lie side by side.

    The simulator sees it at once and calls it a mismatch; here it began as a time-out. Code that catches either catches it.
    """
