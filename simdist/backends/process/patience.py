"""What if a wait does not end?

Either it outlasts its timeout, or the rank it waits for has returned. Both errors carry what the rank was waiting for, so
that the caller can put the reports of all ranks side by side; if they then contradict each other, that is the reason.
"""

from __future__ import annotations

from simdist.backends.process.claim import Claim
from simdist.errors import CollectiveMismatchError, DeadlockError, DistTimeoutError

__all__ = ["DisagreementError", "ExpiredError", "StrandedError", "stranded"]


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


def stranded(rank: int, peer: int, what: str, claims: tuple[Claim, ...]) -> StrandedError:
    """The error of ``rank``, which waits for something of ``peer`` that has returned.

    Args:
        rank: who waits.
        peer: who has returned.
        what: what it waits for.
        claims: what the rank had posted that nobody had taken.
    """
    error = StrandedError(
        f"rank {peer} has returned, rank {rank} still waits for: {what}. "
        "Every send needs a receive on the other side, and every rank must make the same collective calls."
    )
    error.waits, error.claims = (what,), claims
    return error
