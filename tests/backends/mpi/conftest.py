"""Starts ``mpiexec``; more ranks than cores, as on any laptop."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).with_name("programs.py")
# Open MPI asks to be told; MPICH does not look.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def mpiexec() -> str | None:
    """The ``mpiexec`` beside this Python, or the one on the path."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


@pytest.fixture(scope="session")
def start() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``mpiexec -n ranks python ...``."""
    found = mpiexec()
    if found is None or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py or mpiexec is not installed: pip install 'simdist[mpi]' brings both")

    def run(ranks: int, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [found, "-n", str(ranks), sys.executable, *arguments],
            capture_output=True,
            text=True,
            timeout=90,
            cwd=cwd,
            env={**os.environ, **ENVIRONMENT, "PYTHONPATH": str(ROOT)},
        )

    return run


@pytest.fixture(scope="session")
def play(start: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., Any]:
    """Run a function of ``programs.py`` on every process; what each returned, by rank."""

    def run(ranks: int, name: str) -> list[Any]:
        done = start(ranks, str(PROGRAMS), name)
        lines = [line for line in done.stdout.splitlines() if line.startswith("told ")]
        assert len(lines) == ranks, done.stdout + done.stderr
        told = dict(json.loads(line.removeprefix("told ")) for line in lines)
        return [told[rank] for rank in range(ranks)]

    return run
