"""``mpiexec -n N simdist run FILE:FUNCTION --backend mpi`` from outside: one process speaks."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.process

TRAIN = """
import numpy as np
import simdist.distributed as dist

def train(rank, world_size, steps=2):
    x = np.full(4, float(rank))
    for _ in range(steps):
        dist.all_reduce(x)
    return x.tolist()

def bad(rank, world_size):
    if rank == 1:
        raise LookupError("no luck")
    dist.barrier()
"""
RUN = ("-m", "simdist", "run")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


@pytest.mark.parametrize("ranks", [2, 4])
def test_json_and_trace_come_once(start, folder, ranks):
    done = start(ranks, *RUN, "train.py:train", "--backend", "mpi", "--json", "--trace", "run.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    total = float(sum(range(ranks))) * ranks
    assert told["results"] == [[total] * 4] * ranks
    assert (told["backend"], told["world_size"], told["trace"]) == ("mpi", ranks, "run.json")
    assert json.loads((folder / "run.json").read_text())["traceEvents"]


def test_a_failure_is_told_once_and_is_the_exit_code(start, folder):
    done = start(3, *RUN, "train.py:bad", "--backend", "mpi", cwd=folder)
    assert done.returncode == 1
    assert done.stderr.count("LookupError: no luck") == 1
    assert "raised on rank 1" in done.stderr


def test_another_number_of_ranks_is_refused_once(start, folder):
    done = start(2, *RUN, "train.py:train", "--backend", "mpi", "-n", "3", cwd=folder)
    assert done.returncode == 1
    assert done.stderr.count("world_size=3, but this program runs as 2 MPI processes. Start it with mpiexec -n 3") == 1


def test_the_suite_of_conformance_speaks_once(start, folder):
    done = start(2, "-m", "simdist", "conformance", "mpi", "--only", "^objects", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["backend 'mpi': 1 passed", "  objects  2 ranks ok"]
