from __future__ import annotations

import functools
import threading
import time

import pytest

from simdist.backends.process import place
from simdist.backends.process.place import is_ours, is_users, thread_place


def test_the_place_is_the_users_line() -> None:
    assert thread_place(threading.get_ident()).startswith("test_place.py:")


def test_a_thread_that_has_ended_is_nowhere() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    assert thread_place(thread.ident or 0) == ""


def test_a_thread_that_runs_only_machinery_is_nowhere() -> None:
    thread = threading.Thread(target=threading.Event().wait, args=(0.2,))
    thread.start()
    time.sleep(0.02)
    assert thread_place(thread.ident or 0) == ""
    thread.join()


def test_the_line_that_starts_a_worker_is_nobodys_place() -> None:
    source = "import simdist.backends.process.worker\ntime.sleep(0.2)"
    code = compile(source, "<string>", "exec")
    thread = threading.Thread(target=eval, args=(code, {"time": time}))
    thread.start()
    time.sleep(0.05)
    assert thread_place(thread.ident or 0) == ""
    thread.join()


def test_the_standard_library_between_is_skipped() -> None:
    found: list[str] = []
    functools.reduce(lambda _, __: found.append(thread_place(threading.get_ident())), [0, 0])
    assert found[0].startswith("test_place.py:")
    idle = threading.Thread(target=lambda: threading.Event().wait(0.2))
    idle.start()
    time.sleep(0.02)
    assert thread_place(idle.ident or 0).startswith("test_place.py:")
    idle.join()


def test_ours_and_theirs() -> None:
    assert is_ours(place.__file__)
    assert not is_ours(__file__)
    assert not is_ours("<stdin>")


@pytest.mark.parametrize("file", [__file__, "<stdin>", "<string>", "/x/ipykernel_1/2.py", "train.py"])
def test_the_users(file: str) -> None:
    assert is_users(file)


@pytest.mark.parametrize("file", [threading.__file__, pytest.__file__, place.__file__, "<frozen runpy>"])
def test_not_the_users(file: str) -> None:
    assert not is_users(file)
