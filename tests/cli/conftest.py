"""A command line that is called in this process, and a program to call it on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from simdist.cli import app

Call = Callable[..., Result]

PROGRAM = '''
import simdist as sd
import simdist.distributed as dist
import numpy as np


def total(rank, world_size, start=1, name="x"):
    """The sum of start + rank over all ranks."""
    values = np.array([float(start + rank)])
    dist.all_reduce(values)
    return float(values[0])


def work(rank, world_size, seconds=1.0):
    """Work that divides perfectly."""
    sd.compute(seconds=seconds / world_size)


def fail(rank, world_size):
    if rank == 1:
        raise ValueError("no luck on this rank")


def stuck(rank, world_size):
    if rank == 0:
        dist.recv(np.zeros(1), src=1)


not_a_function = 3
'''


@pytest.fixture
def call() -> Call:
    """Call ``simdist`` with these words; gives exit code, output, and standard error."""

    def run(*words: object) -> Any:
        return CliRunner().invoke(app(), [str(word) for word in words], catch_exceptions=False)

    return run


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A file with functions to run."""
    path = tmp_path / "programs_for_cli.py"
    path.write_text(PROGRAM)
    return path
