from __future__ import annotations

import threading
import time

import pytest

from simdist.backends.watchdog import EndlessLoopError, GiveUp
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


def test_a_loop_that_catches_every_exception_is_given_up() -> None:
    caught = []
    with pytest.raises(GiveUp), host_limit(0.1):
        while True:
            try:
                while True:
                    pass
            except Exception as error:
                caught.append(type(error))
    assert caught == [EndlessLoopError]


def test_even_a_bare_except_gets_tired() -> None:
    """It ends, whether the exception arrives inside the try (then a later one gets through) or just outside it."""
    caught = 0
    with pytest.raises((EndlessLoopError, GiveUp)), host_limit(0.1):
        while True:
            try:
                for _ in range(10):
                    caught += 0
            except:  # noqa: E722  what a learner may write
                caught += 1
    assert caught >= 0


def test_other_exceptions_pass() -> None:
    with pytest.raises(KeyError), host_limit(5.0):
        raise KeyError("mine")
