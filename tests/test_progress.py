from __future__ import annotations

import io
import sys
import time

import pytest

from simdist import progress as module
from simdist.progress import progress, pulse


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a terminal; inside the test, since pytest's capture takes it back between set-up and test."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    return screen


def test_every_item_comes_in_order() -> None:
    assert list(progress([3, 1, 2], "work")) == [3, 1, 2]


def test_in_a_pipe_nothing_is_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    list(progress([1, 2, 3], "work"))
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_a_bar_says_what_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    assert list(progress([1, 2, 3], "speed-up")) == [1, 2, 3]
    assert "speed-up" in screen.getvalue()


def test_one_item_needs_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    assert list(progress([1], "work")) == [1]
    assert screen.getvalue() == ""


def test_without_a_standard_error_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr(sys, "stderr", None)
    assert list(progress([1, 2], "work")) == [1, 2]


def test_long_work_of_unknown_length_shows_a_growing_count(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    monkeypatch.setattr(module, "_PATIENCE", 0.01)
    monkeypatch.setattr(module, "_EVERY", 0.01)
    count = iter(range(10_000))
    with pulse("simulating train", lambda: next(count)):
        time.sleep(0.3)
    assert "simulating train" in screen.getvalue()
    assert "steps" in screen.getvalue()


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with pulse("work", lambda: 1):
        pass
    assert screen.getvalue() == ""


def test_a_pulse_in_a_pipe_is_silent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    with pulse("work", lambda: 1):
        time.sleep(0.02)
    assert capsys.readouterr() == ("", "")
