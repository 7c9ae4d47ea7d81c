from __future__ import annotations

import contextvars
import io
import queue
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simdist.backends.process import worker
from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.launcher import launch
from simdist.backends.process.options import ProcessOptions
from simdist.errors import DistBackendError
from tests.backends.process.programs import ENTRY

pytestmark = [pytest.mark.process, pytest.mark.timeout(60)]


def test_the_bare_entry_calls_the_function_with_the_endpoint() -> None:
    end: Any = object()
    assert worker.bare_entry(0, 1, end, ProcessOptions(), lambda *got: got, (1, 2)) == ((end, 1, 2), None)


def test_a_named_entry_is_found() -> None:
    assert worker._named(ENTRY) is worker.bare_entry
    with pytest.raises(ModuleNotFoundError):
        worker._named("no_such_module:x")


def test_a_result_that_cannot_be_packed_names_rank_and_type() -> None:
    with pytest.raises(DistBackendError, match=r"^rank 4 returned a Queue that cannot be sent back .* plain data\.$"):
        worker._packed(4, (queue.Queue(), None))


def test_which_modules_are_forgotten(tmp_path: Path) -> None:
    users = types.ModuleType("users")
    users.__file__ = str(tmp_path / "users.py")
    assert worker._of_user(users)
    compiled = types.ModuleType("compiled")
    compiled.__file__ = str(tmp_path / "compiled.so")
    assert not any(map(worker._of_user, [compiled, np, worker, sys, types.ModuleType("nowhere")]))


def test_a_rank_runs_on_the_main_thread_in_a_fresh_context() -> None:
    def look(end: Endpoint) -> tuple[bool, int]:
        import threading

        return threading.current_thread() is threading.main_thread(), len(contextvars.copy_context())

    assert launch(look, (), world_size=2, entry=ENTRY).results == [(True, 0)] * 2


def test_a_rank_has_no_standard_input() -> None:
    def read(end: Endpoint) -> str:
        return sys.stdin.read()

    assert launch(read, (), world_size=1, entry=ENTRY).results == [""]


def test_a_rank_that_asks_the_person_gets_an_error() -> None:
    with pytest.raises((EOFError, io.UnsupportedOperation)):
        launch(lambda end: input(), (), world_size=1, entry=ENTRY)


def test_the_ranks_have_a_common_clock() -> None:
    def meet(end: Endpoint) -> float:
        work = end.isend(np.zeros(1), 1 - end.rank, (0, 0, 0))
        end.irecv(np.zeros(1), 1 - end.rank, (0, 0, 0)).wait()
        work.wait()
        return end.now()

    first, second = launch(meet, (), world_size=2, entry=ENTRY).results
    assert abs(first - second) < 1.0
    assert min(first, second) > 0.0


def test_workers_do_not_import_what_they_do_not_need() -> None:
    def loaded(end: Endpoint) -> list[str]:
        return [
            name
            for name in ("matplotlib", "simpy", "greenlet", "IPython", "multiprocessing.pool")
            if name in sys.modules
        ]

    assert launch(loaded, (), world_size=1, entry=ENTRY).results == [[]]
