from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from simdist.backends.process import child as child_module
from simdist.backends.process.child import Child, spawn
from simdist.backends.process.mesh import HAS_UNIX
from simdist.errors import DistBackendError

pytestmark = [pytest.mark.process, pytest.mark.timeout(60)]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes")


@pytest.fixture
def keep() -> Iterator[list[Child]]:
    """Children that are killed at the end of the test."""
    children: list[Child] = []
    yield children
    for each in children:
        each.kill()


@pytest.mark.parametrize("wire", ["tcp", pytest.param("unix", marks=pytest.mark.skipif(not HAS_UNIX, reason="no fds"))])
def test_workers_start_and_answer(wire: str, keep: list[Child]) -> None:
    keep += spawn(2, wire, 30.0)
    for each in keep:
        assert each.exit_code() is None
        each.channel.send("ask")
    assert [each.channel.receive() for each in keep] == [("waits", ["starts"], [])] * 2


def test_a_worker_ends_when_the_conversation_ends(keep: list[Child]) -> None:
    (each,) = spawn(1, "tcp", 30.0)
    keep.append(each)
    each.channel.send("ask")
    each.channel.receive()
    each.channel.close()
    assert each.exit_code(10.0) == 0


@POSIX
def test_the_exit_code_is_seen_without_burying_the_process(keep: list[Child]) -> None:
    keep += spawn(2, "unix", 30.0)
    os.kill(keep[0].process.pid, signal.SIGKILL)
    assert keep[0].exit_code(10.0) == -9
    assert keep[0].exit_code() == -9
    assert keep[0].process.returncode is None
    assert keep[1].exit_code() is None
    keep[0].bury()
    assert keep[0].exit_code() == keep[0].process.returncode == -9


@POSIX
def test_the_exit_code_without_waitid(keep: list[Child], monkeypatch: pytest.MonkeyPatch) -> None:
    keep += spawn(1, "unix", 30.0)
    monkeypatch.delattr(os, "waitid")
    assert keep[0].exit_code(0.01) is None
    os.kill(keep[0].process.pid, signal.SIGTERM)
    assert keep[0].exit_code(10.0) == -15


@POSIX
def test_what_it_writes_below_python_is_read_by_lines(keep: list[Child]) -> None:
    command = [sys.executable, "-c", "print('\\n'.join(map(str, range(20))) + '\\nhalf', end='', flush=True)"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    each = Child(process, _no_channel())
    keep.append(each)
    process.wait()
    assert each.raw_lines() == [str(number) for number in range(20)]
    assert each.raw_lines() == []
    assert list(each.last_words) == [str(number) for number in range(12, 20)]


def _no_channel() -> Any:
    class Closed:
        def close(self) -> None:
            return

    return Closed()


def test_killing_twice_is_harmless() -> None:
    (each,) = spawn(1, "tcp", 30.0)
    each.kill()
    each.kill()
    each.strike()
    assert each.process.returncode is not None


def test_without_a_python_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(DistBackendError, match=r"no Python executable is known here.*use backend=\"sim\""):
        spawn(1, "tcp", 1.0)


@pytest.mark.parametrize("wire", ["tcp", "unix"])
def test_a_start_that_fails_leaves_nothing(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = child_module._start

    def second_fails(*args: Any, **how: Any) -> subprocess.Popen[bytes]:
        if started:
            raise OSError("no more processes")
        started.append(real(*args, **how))
        return started[0]

    monkeypatch.setattr(child_module, "_start", second_fails)
    with pytest.raises(OSError, match="no more processes"):
        spawn(3, wire, 10.0)
    assert started[0].returncode is not None
    for stream in (started[0].stdout, started[0].stdin):
        if stream is not None:
            stream.close()


def test_workers_that_do_not_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "_BOOT", "import time; time.sleep(60) # {path}{address}{tied}")
    start = time.monotonic()
    with pytest.raises(DistBackendError, match=r"2 workers did not connect within 0\.3 s"):
        spawn(2, "tcp", 0.3)
    assert time.monotonic() - start < 20


def test_workers_that_end_before_they_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "_BOOT", "raise SystemExit(9) # {path}{address}{tied}")
    with pytest.raises(DistBackendError, match="2 workers did not connect: one left with exit code 9"):
        spawn(2, "tcp", 30.0)
