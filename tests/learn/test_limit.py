from __future__ import annotations

import threading
import time

import pytest

from simdist.backends.watchdog import EndlessLoopError
from simdist.learn.limit import host_limit


def test_what_ends_in_time_is_left_alone() -> None:
    with host_limit(5.0):
        value = sum(range(1000))
    assert value == 499_500
    assert not [thread for thread in threading.enumerate() if thread.name == "simdist-host-limit"]


def test_an_endless_loop_is_stopped() -> None:
    began = time.monotonic()
    with pytest.raises(EndlessLoopError), host_limit(0.2):
        while True:
            pass
    assert time.monotonic() - began < 5.0


def test_it_is_raised_again_and_again() -> None:
    """A loop that swallows it once has not won."""

    def hopeless() -> None:
        swallowed = 0
        while swallowed < 3:
            try:
                while True:
                    pass
            except EndlessLoopError:
                swallowed += 1
        raise KeyError("three times")

    with pytest.raises(KeyError, match="three times"), host_limit(0.1):
        hopeless()


def test_other_exceptions_pass() -> None:
    with pytest.raises(KeyError), host_limit(5.0):
        raise KeyError("mine")
