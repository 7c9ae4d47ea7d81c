from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

from simdist.backends.process import pool as pool_module
from simdist.backends.process.launcher import launch
from simdist.backends.process.mesh import wire_named
from simdist.backends.process.pool import Pool, close_pool, pool
from tests.backends.process import programs
from tests.backends.process.programs import ENTRY

pytestmark = [pytest.mark.process, pytest.mark.timeout(60)]


@pytest.fixture
def fresh() -> Iterator[Pool]:
    made = Pool(wire_named("auto"))
    yield made
    made.close()


def _pids(n: int) -> list[int]:
    return launch(lambda end: os.getpid(), (), world_size=n, entry=ENTRY).results


def test_workers_are_used_again() -> None:
    first = _pids(3)
    assert set(_pids(3)) == set(first)
    assert set(_pids(2)) < set(first)
    close_pool()
    assert not set(_pids(3)) & set(first)


def test_a_used_worker_is_as_good_as_new() -> None:
    def spoil(end: object) -> int:
        import random
        import warnings

        import numpy as np

        warnings.simplefilter("error")
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        return programs.count_calls(end)  # type: ignore[arg-type]

    def look(end: object) -> tuple[float, float]:
        import random
        import warnings

        import numpy as np

        warnings.warn("no error", stacklevel=1)
        return random.random(), float(np.random.random())  # noqa: NPY002

    assert launch(spoil, (), world_size=2, entry=ENTRY).results == [1, 1]
    assert launch(spoil, (), world_size=2, entry=ENTRY).results == [1, 1]
    first, second = launch(look, (), world_size=2, entry=ENTRY).results
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_a_worker_with_a_stray_thread_is_not_used_again() -> None:
    def stray(end: object) -> int:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        return os.getpid()

    spoiled = launch(stray, (), world_size=1, entry=ENTRY).results
    assert not set(_pids(1)) & set(spoiled)


def test_a_worker_that_died_while_idle_is_replaced(fresh: Pool) -> None:
    children = fresh.take(2, 30.0)
    fresh.give(children)
    for child in children:
        child.resting = False
    children[0].process.kill()
    children[0].exit_code(10.0)
    again = fresh.take(2, 30.0)
    assert again[0] is children[1]
    assert again[1] is not children[0]
    fresh.give(again)
    for child in again:
        child.resting = False


def test_a_worker_that_does_not_answer_is_replaced(fresh: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_REST_SECONDS", 0.1)
    (silent,) = fresh.take(1, 30.0)
    fresh.give([silent])
    (other,) = fresh.take(1, 30.0)
    assert other is not silent
    assert silent.process.returncode is not None
    other.kill()


def test_more_than_it_keeps_are_ended(fresh: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "KEEP", 1)
    children = fresh.take(3, 30.0)
    fresh.give(children)
    assert [child.process.returncode is None for child in children] == [False, False, True]


def test_closing_ends_every_worker(fresh: Pool) -> None:
    children = fresh.take(2, 30.0)
    fresh.give(children)
    fresh.close()
    fresh.close()
    assert [child.process.returncode for child in children] == [0, 0]


def test_a_forked_copy_does_not_touch_the_workers(fresh: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    children = fresh.take(1, 30.0)
    fresh.give(children)
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        fresh.close()
    assert children[0].process.poll() is None
    children[0].kill()


def test_each_wire_has_its_pool() -> None:
    assert pool("tcp") is pool("tcp")
    assert pool("tcp").wire == "tcp"
