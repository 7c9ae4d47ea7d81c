from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simdist import place
from simdist.backends.process.job import ONE_THREAD, Job, Surroundings
from simdist.backends.process.options import ProcessOptions


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = Surroundings.here()
    yield
    sys.path[:], sys.argv[:] = before.path, before.argv
    os.chdir(before.directory or "/")
    os.environ.clear()
    os.environ.update(before.environment)
    place.name_cells(before.cells)


def test_entering_takes_over_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMDIST_TEST_OLD", "1")
    there = Surroundings(
        ["/somewhere"], ["prog", "-x"], str(tmp_path), {"SIMDIST_TEST_NEW": "2"}, {"<ipython-input-3-ab>": "In[3]"}
    )
    there.enter()
    assert (sys.path, sys.argv) == (["/somewhere"], ["prog", "-x"])
    assert Path.cwd() == tmp_path.resolve()
    assert "SIMDIST_TEST_OLD" not in os.environ
    assert os.environ["SIMDIST_TEST_NEW"] == "2"
    assert place.cells() == {"<ipython-input-3-ab>": "In[3]"}


def test_one_blas_thread_whatever_the_caller_has(tmp_path: Path) -> None:
    Surroundings([], [], str(tmp_path), {"OMP_NUM_THREADS": "8"}, {}).enter()
    assert {name: os.environ[name] for name in ONE_THREAD} == ONE_THREAD
    assert set(ONE_THREAD.values()) == {"1"}


def test_a_directory_that_is_gone_is_no_reason_to_fail(tmp_path: Path) -> None:
    here = Path.cwd()
    for directory in (None, str(tmp_path / "gone")):
        Surroundings([], [], directory, {}, {}).enter()
        assert Path.cwd() == here


def test_here_in_a_deleted_directory(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert Surroundings.here().directory is None


def test_a_job_opens_its_parcel() -> None:
    options = ProcessOptions(seed=3)
    job = Job(1, 4, "m:f", pickle.dumps((len, ("abc",), options)), Surroundings.here())
    copy = pickle.loads(pickle.dumps(job))
    assert copy == job
    assert copy.open() == (len, ("abc",), options)
