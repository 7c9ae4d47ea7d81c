from __future__ import annotations

import pickle

import pytest

from simdist.backends.process.patience import ExpiredError, StrandedError
from simdist.errors import DeadlockError, DistError, DistTimeoutError


@pytest.mark.parametrize("caught", [DeadlockError, DistTimeoutError, DistError, TimeoutError, RuntimeError])
def test_stranded_is_a_deadlock_and_a_timeout(caught: type[Exception]) -> None:
    with pytest.raises(caught):
        raise StrandedError("rank 1 has returned")


def test_expired_is_a_timeout_and_no_deadlock() -> None:
    assert issubclass(ExpiredError, DistTimeoutError)
    assert not issubclass(ExpiredError, DeadlockError)


@pytest.mark.parametrize("kind", [ExpiredError, StrandedError])
def test_what_it_waited_for_travels(kind: type[ExpiredError]) -> None:
    error = kind("text")
    assert error.waits == ()
    error.waits = ("a", "b")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.waits, str(copy)) == (kind, ("a", "b"), "text")
