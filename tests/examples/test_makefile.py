"""Does make do its own set-up, and say what is wrong when it cannot?"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A directory with the Makefile and nothing set up."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def make(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(
        ["make", *words], cwd=where, capture_output=True, text=True, check=False, timeout=60, env=environment
    )


def test_bare_make_prints_the_targets_and_makes_nothing(bare: Path) -> None:
    done = make(bare)
    assert done.returncode == 0
    assert "make TARGET" in done.stdout
    assert not (bare / ".venv").exists()


@pytest.mark.parametrize("target", ["demo", "test", "check", "bench", "notebooks"])
def test_every_target_begins_with_the_set_up(bare: Path, target: str) -> None:
    plan = make(bare, "--dry-run", target).stdout
    assert plan.index("-m venv .venv") < plan.index("pip install")
    assert plan.index("pip install") < plan.rindex(".venv/bin/")


def test_only_the_tests_need_what_the_tests_need(bare: Path) -> None:
    assert "[test]" not in make(bare, "--dry-run", "demo").stdout
    assert "[test]" in make(bare, "--dry-run", "test").stdout


def test_two_targets_at_once_make_one_environment(bare: Path) -> None:
    assert make(bare, "--dry-run", "-j4", "demo", "test", "check").stdout.count("-m venv .venv; }") == 1


def test_an_old_python_is_refused_with_the_remedy(bare: Path) -> None:
    old = bare / "python3.9"
    old.write_text('#!/bin/sh\nif [ "$1" = --version ]; then echo "Python 3.9.2"; else exit 1; fi\n')
    old.chmod(0o755)
    done = make(bare, "demo", f"PYTHON={old}")
    assert done.returncode != 0
    assert f'simdist needs Python 3.11 or newer; "{old}" is Python 3.9.2.' in done.stdout
    assert "Name another one: make demo PYTHON=python3.12" in done.stdout
    assert not (bare / ".venv").exists()


def test_a_python_that_is_not_there_is_refused(bare: Path) -> None:
    done = make(bare, "test", "PYTHON=python-nowhere")
    assert done.returncode != 0
    assert 'simdist needs Python 3.11 or newer; "python-nowhere" is not there.' in done.stdout


def test_the_check_of_every_change_is_the_two_commands() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = [line for line in script.read_text().splitlines() if line and not line.startswith("#")]
    assert lines == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "make check", "make test"]
