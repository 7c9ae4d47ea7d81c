"""What does the caller hold of a worker?

The process, the conversation with it, and (where the system can wait for pipes) what it writes below Python: a crash report,
the output of a subprocess.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from typing import Any

from simdist.backends.process import mesh
from simdist.backends.process.channel import Channel
from simdist.backends.process.job import ONE_THREAD
from simdist.errors import DistBackendError

__all__ = ["Child", "spawn"]

_POSIX = os.name == "posix"
_LAST_LINES = 8
_PEEK_SECONDS = 0.002
_LOOK_SECONDS = 0.2
_BOOT = (
    "import sys; sys.path[:] = {path!r}; from simdist.backends.process.worker import main; main({address!r}, {tied!r})"
)


class Child:
    """A worker, seen by the caller.

    Args:
        process: the process.
        channel: the conversation.

    Attributes:
        resting: it has been told that its job is over, and has not answered ``idle`` yet.
        last_words: the last lines it wrote below Python.
    """

    def __init__(self, process: subprocess.Popen[bytes], channel: Channel) -> None:
        self.process, self.channel = process, channel
        self.resting = False
        self.last_words: deque[str] = deque(maxlen=_LAST_LINES)
        self._raw = b""
        if process.stdout is not None:
            os.set_blocking(process.stdout.fileno(), False)

    def raw_lines(self) -> list[str]:
        """The complete lines it has written below Python since the last call."""
        if self.process.stdout is None or self.process.stdout.closed:
            return []
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self.process.stdout.fileno(), 1 << 16):
                self._raw += piece
        *lines, self._raw = self._raw.split(b"\n")
        texts = [line.decode("utf-8", "replace") for line in lines]
        self.last_words.extend(texts)
        return texts

    def exit_code(self, patience: float = 0.0) -> int | None:
        """The exit code (minus the signal's number), after at most ``patience`` seconds; None while it lives.

        The dead process is left unburied, so that its number still names its group and what it started can be ended too.
        """
        deadline = time.monotonic() + patience
        while (code := self._peek()) is None and time.monotonic() < deadline:
            time.sleep(_PEEK_SECONDS)
        return code

    def _peek(self) -> int | None:
        if not hasattr(os, "waitid") or self.process.returncode is not None:
            return self.process.poll()
        try:
            end = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # somebody else in this process waited for it
            return self.process.poll()
        if end is None:
            return None
        return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status

    def strike(self) -> None:
        """End it and everything it started, without waiting for the end."""
        if self.process.returncode is not None:
            return
        if _POSIX:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def kill(self) -> None:
        """End it and everything it started, at once."""
        self.strike()
        self.bury()

    def bury(self) -> None:
        """Close what is open and wait for the end of the process."""
        self.channel.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait()


def spawn(count: int, wire: str, patience: float) -> list[Child]:
    """Start ``count`` workers, connected as ``wire`` (``"unix"`` or ``"tcp"``) says.

    Raises:
        DistBackendError: they cannot be started, or do not connect within ``patience`` seconds.
    """
    if not sys.executable:
        raise DistBackendError('no Python executable is known here to start processes with: use backend="sim"')
    return _spawn_paired(count) if wire == "unix" else _spawn_dialling(count, patience)


def _spawn_paired(count: int) -> list[Child]:
    children: list[Child] = []
    try:
        for _ in range(count):
            mine, theirs = socket.socketpair()
            try:
                process = _start(f"fd:{theirs.fileno()}", stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),))
            except BaseException:
                mine.close()
                raise
            finally:
                theirs.close()
            children.append(Child(process, Channel(mine)))
    except BaseException:
        for child in children:
            child.kill()
        raise
    return children


def _spawn_dialling(count: int, patience: float) -> list[Child]:
    token = mesh.new_token()
    processes: list[subprocess.Popen[bytes]] = []
    dialled: dict[int, socket.socket] = {}
    with mesh.listen() as listener:
        try:
            for index in range(count):
                # The number comes back with the connection and says which process it is.
                process = _start(f"port:{listener.getsockname()[1]}", stdin=subprocess.PIPE)
                processes.append(process)
                assert process.stdin is not None
                with process.stdin, contextlib.suppress(BrokenPipeError):  # one that is gone is noticed below
                    process.stdin.write(token + index.to_bytes(4, "little"))
            _answer_calls(listener, token, processes, dialled, patience)
        except BaseException:
            for process in processes:
                process.kill()
                process.wait()
                if process.stdout is not None:
                    process.stdout.close()
            for sock in dialled.values():
                sock.close()
            raise
    return [Child(process, Channel(dialled[index])) for index, process in enumerate(processes)]


def _answer_calls(
    listener: socket.socket,
    token: bytes,
    processes: list[subprocess.Popen[bytes]],
    dialled: dict[int, socket.socket],
    patience: float,
) -> None:
    """Accept until every process has connected."""
    deadline = time.monotonic() + patience
    listener.settimeout(min(patience, _LOOK_SECONDS))
    while len(dialled) < len(processes):
        try:
            accepted = mesh.accept(listener, token)
        except TimeoutError:
            ended = [process for i, process in enumerate(processes) if i not in dialled and process.poll() is not None]
            if ended or time.monotonic() > deadline:
                why = f": one left with exit code {ended[0].returncode}" if ended else f" within {patience:g} s"
                raise DistBackendError(f"{len(processes) - len(dialled)} workers did not connect{why}") from None
            continue
        if accepted is not None:
            sock, number = accepted
            dialled[number] = sock


def _start(address: str, **how: Any) -> subprocess.Popen[bytes]:
    # The system's parent-death signal follows the thread that starts the process, so only the main thread may ask for it.
    tied = threading.current_thread() is threading.main_thread()
    command = [sys.executable, "-c", _BOOT.format(path=list(sys.path), address=address, tied=tied)]
    if _POSIX:
        # A process group of its own: Ctrl-C in the terminal reaches the caller only, which then ends the workers itself.
        how |= {"start_new_session": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    else:
        how["creationflags"] = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    return subprocess.Popen(command, env={**os.environ, **ONE_THREAD}, **how)
