from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simdist import demo as program
from simdist.demo import Demo


def outcome(identical: bool = True) -> Demo:
    return Demo(0.97, identical, 9610, 0.01, 0.5, [1.0, 2.0], ["demo/timeline.png"])


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Instead of the demo itself (tests/test_demo.py runs it): remember where it should go."""
    asked: list[Path] = []

    def show(out: Path, say: Any = print) -> Demo:
        asked.append(out)
        say("the story")
        return outcome(identical=out.name != "differ")

    monkeypatch.setattr(program, "show", show)
    return asked


def test_it_tells_the_story(call, shown: list[Path]) -> None:
    done = call("demo")
    assert (done.exit_code, done.output) == (0, "the story\n")
    assert shown == [Path("demo")]


def test_the_directory_can_be_named(call, shown: list[Path], tmp_path: Path) -> None:
    assert call("demo", "--out", tmp_path / "here").exit_code == 0
    assert shown == [tmp_path / "here"]


def test_json_replaces_the_story(call, shown: list[Path]) -> None:
    facts = json.loads(call("demo", "--json").output)
    assert facts == outcome()._asdict()


def test_weights_that_differ_are_a_failure(call, shown: list[Path]) -> None:
    done = call("demo", "--out", "differ")
    assert done.exit_code == 1
    assert "The simulated and the real weights differ: that is a bug in simdist" in done.stderr
