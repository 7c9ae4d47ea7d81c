from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from simdist.cli.application import COMMANDS

ROOT = Path(__file__).parents[2]


def test_without_words_it_shows_the_commands(call) -> None:
    shown = call()
    for name, _ in COMMANDS:
        assert name in shown.output
    assert "learn" in shown.output


def test_help_begins_with_what_to_do_first(call) -> None:
    shown = call("--help")
    assert shown.exit_code == 0
    assert "simdist demo" in shown.output


@pytest.mark.parametrize(
    "words",
    [[name] for name, _ in COMMANDS] + [["learn", word] for word in ("list", "check", "hint")] + [["validate", "nccl"]],
)
def test_the_help_of_every_command_has_an_example(call, words: list[str]) -> None:
    shown = call(*words, "--help")
    assert shown.exit_code == 0
    assert "Example" in shown.output
    assert f"simdist {' '.join(words)}" in " ".join(shown.output.replace("│", " ").split())


def test_the_version_is_the_one_in_pyproject(call) -> None:
    shown = call("--version")
    expected = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert (shown.exit_code, shown.output) == (0, f"simdist {expected}\n")


def test_an_unknown_command_is_wrong_use_with_the_nearest(call) -> None:
    shown = call("spedup", "x.py:f")
    assert shown.exit_code == 2
    assert "spedup" in shown.output
    assert "speedup" in shown.output


def test_an_unknown_option_is_wrong_use(call) -> None:
    assert call("demo", "--fast").exit_code == 2


def test_python_dash_m_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simdist", "clusters", "--json"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[")
