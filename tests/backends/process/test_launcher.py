"""Runs on real processes, from the outside: the whole path from a function to its results, on both wires."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simdist.backends.process import ProcessOptions, close_pool, launch
from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.mesh import HAS_UNIX
from simdist.errors import DistBackendError, RankFailedError, UnknownNameError
from tests.backends.process import programs
from tests.backends.process.programs import ENTRY, TAG, ring_all_reduce

pytestmark = [pytest.mark.process, pytest.mark.timeout(60)]
ROOT = Path(__file__).resolve().parents[3]
STOPPED = 5.0  # seconds in which a failure must have stopped every rank


def run(fn: Any, *args: Any, n: int = 2, entry: str = ENTRY, **options: Any) -> list[Any]:
    options.setdefault("timeout", 30.0)
    return launch(fn, args, world_size=n, options=ProcessOptions(**options), entry=entry).results


# ---- functions, arguments, results -----------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["tcp", pytest.param("unix", marks=pytest.mark.skipif(not HAS_UNIX, reason="no fds"))])
def test_a_lambda_a_closure_and_a_module_function_run(wire: str) -> None:
    factor = 3

    def nested(end: Endpoint, x: int) -> int:
        return factor * x + end.rank

    assert run(lambda end: end.rank, n=3, wire=wire) == [0, 1, 2]
    assert run(nested, 10, n=3, wire=wire) == [30, 31, 32]
    assert run(programs.reduce_often, 3, 1001, n=3, wire=wire) == [9.0, 9.0, 9.0]


def test_an_outcome_has_times_and_payloads() -> None:
    outcome = launch(programs.sleep_for, (0.05,), world_size=2, entry=ENTRY)
    assert outcome.results == [0, 1]
    assert outcome.payloads == [None, None]
    assert all(0.05 <= seconds < 30 for seconds in outcome.rank_times)


@pytest.mark.parametrize("n", [0, 1])
def test_small_worlds(n: int) -> None:
    assert run(lambda end: end.world_size, n=n) == [n] * n


def test_arguments_and_results_larger_than_any_pipe() -> None:
    data = np.arange(4_000_000, dtype=np.float64)
    results = run(lambda end, x: x * (end.rank + 1), data)
    for rank, result in enumerate(results):
        assert result.tobytes() == (data * (rank + 1)).tobytes()


def test_large_messages_both_ways() -> None:
    def exchange(end: Endpoint) -> bool:
        data = np.full(64 << 20, end.rank + 1, dtype=np.uint8)
        target = np.zeros_like(data)
        work = end.isend(data, 1 - end.rank, TAG)
        end.irecv(target, 1 - end.rank, TAG).wait()
        work.wait()
        return bool((target == 2 - end.rank).all())

    assert run(exchange) == [True, True]


def test_a_ring_gives_every_rank_the_same_bits() -> None:
    def reduce(end: Endpoint) -> bytes:
        data = np.random.default_rng(end.rank).standard_normal(10_007).astype(np.float32)
        ring_all_reduce(end, data, 0)
        return data.tobytes()

    results = run(reduce, n=4)
    total = sum(np.random.default_rng(rank).standard_normal(10_007) for rank in range(4))
    assert len(set(results)) == 1
    assert np.allclose(np.frombuffer(results[0], np.float32), total, atol=1e-4)


def test_a_class_of_the_caller_comes_back_as_itself() -> None:
    class Found:
        def __init__(self, value: int) -> None:
            self.value = value

    class OwnError(Exception):
        pass

    def fail(end: Endpoint) -> None:
        raise OwnError(end.rank)

    results = run(lambda end: Found(end.rank))
    assert [type(result) for result in results] == [Found, Found]
    assert [result.value for result in results] == [0, 1]
    with pytest.raises(OwnError):
        run(fail)


def test_blas_has_one_thread_in_every_rank() -> None:
    def threads(end: Endpoint) -> set[int]:
        from threadpoolctl import threadpool_info

        return {pool["num_threads"] for pool in threadpool_info()}

    assert run(threads) == [{1}, {1}]


def test_ranks_have_the_callers_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(lambda end: None)  # so that the workers are older than what follows
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMDIST_TEST", "here")
    (tmp_path / "beside_the_script.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def look(end: Endpoint) -> tuple[str, str | None, int]:
        import beside_the_script  # type: ignore[import-not-found]

        return str(Path.cwd()), os.environ.get("SIMDIST_TEST"), beside_the_script.VALUE

    assert run(look) == [(str(tmp_path.resolve()), "here", 1)] * 2
    time.sleep(0.01)
    (tmp_path / "beside_the_script.py").write_text("VALUE = 22\n")
    assert [value for _, _, value in run(look)] == [22, 22]
    monkeypatch.delenv("SIMDIST_TEST")
    assert [value for _, value, _ in run(look)] == [None, None]


def test_a_mistaken_call_starts_nothing() -> None:
    lock = threading.Lock()
    before = _children()
    with pytest.raises(DistBackendError, match=r"the captured 'lock' is a _thread\.lock"):
        run(lambda end: lock)
    with pytest.raises(ValueError, match="world_size must not be negative, got -1"):
        run(lambda end: None, n=-1)
    with pytest.raises(UnknownNameError, match="no wire named 'pigeon'"):
        run(lambda end: None, wire="pigeon")
    assert _children() == before


def test_a_module_lock_that_another_thread_holds_is_free_in_the_ranks() -> None:
    """Case 39 e: a fork would copy the locked lock; a spawned process has its own."""
    with programs.LOCK:
        close_pool()
        assert run(programs.take_the_lock) == [True, True]


def test_two_threads_may_run_at_the_same_time() -> None:
    results: dict[int, Any] = {}

    def body(index: int) -> None:
        results[index] = run(programs.reduce_often, 5, 1000 + index)

    threads = [threading.Thread(target=body, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(40)
    assert results == {0: [9.0, 9.0], 1: [9.0, 9.0]}
    assert run(lambda end: end.rank) == [0, 1]


def test_a_run_inside_a_run() -> None:
    def outer(end: Endpoint) -> list[int]:
        from simdist.backends.process import close_pool, launch

        inner = launch(lambda end: end.rank + 10, (), world_size=2, entry="simdist.backends.process.worker:bare_entry")
        close_pool()
        return inner.results

    assert run(outer, n=1) == [[10, 11]]


# ---- what ranks print ------------------------------------------------------------------------------------------------


def test_prints_and_warnings_carry_the_rank(capsys: pytest.CaptureFixture[str]) -> None:
    def speak(end: Endpoint) -> None:
        print("first", end.rank)
        print("two\nlines")
        sys.stderr.write("to stderr\n")
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn("careful", stacklevel=1)
        print("no end", end="")

    run(speak)
    captured = capsys.readouterr()
    assert captured.err == ""
    lines = captured.out.splitlines()
    for rank in range(2):
        own = [line.removeprefix(f"[rank {rank}] ") for line in lines if line.startswith(f"[rank {rank}] ")]
        assert own[:4] == [f"first {rank}", "two", "lines", "to stderr"]
        assert "UserWarning: careful" in own[4]
        assert own[-1] == "no end"


@pytest.mark.skipif(os.name != "posix", reason="elsewhere it goes to the caller's own output")
def test_output_below_python_carries_the_rank_too(capsys: pytest.CaptureFixture[str]) -> None:
    run(lambda end: os.system("echo from a shell"))
    assert sorted(capsys.readouterr().out.splitlines()) == [f"[rank {rank}] from a shell" for rank in range(2)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_what_a_forked_process_prints_does_not_disturb(capsys: pytest.CaptureFixture[str]) -> None:
    def fork(end: Endpoint) -> int:
        pid = os.fork()
        if pid == 0:
            print("from the fork")
            os._exit(0)
        os.waitpid(pid, 0)
        print("from the rank")
        return end.rank

    assert run(fork) == [0, 1]
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "[rank 0] from the fork",
        "[rank 0] from the rank",
        "[rank 1] from the fork",
        "[rank 1] from the rank",
    ]


def test_much_output_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    run(lambda end: [print("x" * 200, index) for index in range(1000)] and None)
    assert len(capsys.readouterr().out.splitlines()) == 2000


# ---- failures --------------------------------------------------------------------------------------------------------


def test_an_exception_stops_all_and_arrives_as_itself() -> None:
    def fail(end: Endpoint) -> None:
        if end.rank == 1:
            raise KeyError("weights")
        while True:  # a rank that never listens
            pass

    start = time.monotonic()
    with pytest.raises(KeyError) as caught:
        run(fail, n=3)
    assert time.monotonic() - start < STOPPED
    assert caught.value.args == ("weights",)
    assert "raised on rank 1 (process) at " in caught.value.__notes__[0]
    cause = str(caught.value.__cause__)
    assert "test_launcher.py" in cause
    assert 'raise KeyError("weights")' in cause
    assert "worker.py" not in cause


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_rank_is_named_with_its_signal() -> None:
    def die(end: Endpoint) -> None:
        if end.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        end.irecv(np.zeros(1), 1, TAG).wait()

    start = time.monotonic()
    with pytest.raises(RankFailedError, match=r"^rank 1 was killed by signal 9 \(SIGKILL\)"):
        run(die, n=3)
    assert time.monotonic() - start < STOPPED


@pytest.mark.parametrize(("leave", "text"), [(os._exit, "exit code 3"), (sys.exit, r"exit code 3 \(sys.exit\)")])
def test_a_rank_that_leaves_is_named_with_its_exit_code(leave: Any, text: str) -> None:
    def go(end: Endpoint) -> None:
        if end.rank == 2:
            leave(3)
        end.irecv(np.zeros(1), 2, TAG).wait()

    with pytest.raises(RankFailedError, match=f"^rank 2 left with {text} before it returned"):
        run(go, n=3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_what_a_rank_has_started_ends_with_it(tmp_path: Path) -> None:
    """Even if it holds the rank's connection open, so that the connection does not end with the rank."""
    note = tmp_path / "pid"

    def start(end: Endpoint) -> None:
        if end.rank == 0:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            note.write_text(str(pid))
            os._exit(5)
        time.sleep(60)

    with pytest.raises(RankFailedError, match="rank 0 left with exit code 5"):
        run(start)
    assert _gone(int(note.read_text()))


def test_a_timeout_names_what_every_rank_does() -> None:
    def stuck(end: Endpoint) -> None:
        if end.rank == 0:
            end.irecv(np.zeros((2, 3), np.float32), 1, (0, 1, 7), label="all_reduce 7").wait()
        elif end.rank == 1:
            end.irecv(np.zeros(1), 2, TAG).wait(60)
        elif end.rank == 2:
            time.sleep(60)

    with pytest.raises(TimeoutError) as caught:
        run(stuck, n=3, timeout=0.3)
    first, head, *table = str(caught.value).splitlines()
    assert first.startswith(
        "rank 0 waited 0.3 s, its timeout, for: all_reduce 7: receive of (2, 3) float32 from rank 1, tag (0, 1, 7) "
        "(test_launcher.py:"
    )
    assert head == "What each rank was doing:"
    assert "rank 0 waits for all_reduce 7: receive of (2, 3) float32" in table[0]
    assert "rank 1 waits for receive of (1,) float64 from rank 2" in table[1]
    assert "(test_launcher.py:" in table[1]
    assert table[2].startswith("  rank 2 waits for nothing, it is at test_launcher.py:")


def test_waiting_for_a_rank_that_has_returned_is_told_at_once() -> None:
    def leave_one(end: Endpoint) -> None:
        if end.rank == 0:
            end.irecv(np.zeros(1), 1, TAG).wait()

    start = time.monotonic()
    with pytest.raises(TimeoutError, match="rank 1 has returned, rank 0 still waits for: receive of") as caught:
        run(leave_one, timeout=None)
    assert time.monotonic() - start < STOPPED
    assert str(caught.value).splitlines()[-1] == "  rank 1 has returned"


def test_a_rank_that_cannot_answer_does_not_hold_up_the_report() -> None:
    def stuck(end: Endpoint) -> None:
        if end.rank == 0:
            end.irecv(np.zeros(1), 1, TAG).wait()
        os.kill(os.getpid(), signal.SIGSTOP)

    with pytest.raises(TimeoutError, match="rank 1 does not answer"):
        run(stuck, timeout=0.2)


def test_a_mismatch_is_told_by_both_sides() -> None:
    def differ(end: Endpoint) -> None:
        if end.rank == 0:
            end.isend(np.zeros(4), 1, TAG, b"all_reduce (4,) float64").wait()
        end.irecv(np.zeros(8), 0, TAG, note=b"all_gather (8,) float64").wait()

    with pytest.raises(RuntimeError, match=r"rank 0 is at all_reduce .* but rank 1 is at all_gather") as caught:
        run(differ)
    assert any("failed too" in note for note in caught.value.__notes__)


def test_a_result_that_cannot_be_sent_back() -> None:
    with pytest.raises(DistBackendError, match=r"rank \d returned a generator that cannot be sent back .*plain data"):
        run(lambda end: (x for x in range(3)))


def test_a_function_that_cannot_be_unpacked_in_the_rank() -> None:
    class Fragile:
        def __reduce__(self) -> Any:
            return (int, ("not a number",))

    with pytest.raises(ValueError, match="invalid literal"):
        run(lambda end, x: x, Fragile())


def test_an_entry_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no_such_entry"):
        run(lambda end: None, entry="simdist.backends.process.worker:no_such_entry")


def test_ranks_that_are_not_ready_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(30)\ndef bare(*args): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DistBackendError, match=r"ranks \[0, 1\] were not ready within 0.5 s \(start_timeout\)"):
        run(lambda end: None, entry="slow_to_import:bare", start_timeout=0.5)


def test_the_next_run_after_a_failure_is_clean() -> None:
    def fail(end: Endpoint) -> None:
        raise ValueError(end.rank)

    for _ in range(2):
        with pytest.raises(ValueError, match=r"0|1"):
            run(fail)
        assert run(lambda end: end.rank) == [0, 1]


# ---- nothing is left behind ------------------------------------------------------------------------------------------


def _children() -> set[int]:
    listed = subprocess.run(["ps", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return {int(pid) for pid, parent, args in rows if parent == str(os.getpid()) and "simdist" in args}


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _segments() -> list[str]:
    """Shared memory and semaphores under the names that Python gives them: other programs may make theirs meanwhile."""
    return sorted(name for name in os.listdir("/dev/shm") if name.startswith(("psm_", "sem.", "simdist")))


def _gone(pid: int) -> bool:
    """Whether a process ends within two seconds (a zombie has ended)."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def _kill_half_way(end: Endpoint) -> None:
    programs.reduce_often(end, 50, 250_000)
    if end.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    programs.reduce_often(end, 50, 250_000)


def _raise_half_way(end: Endpoint) -> None:
    programs.reduce_often(end, 3, 250_000)
    if end.rank == 1:
        raise ArithmeticError("half-way")
    programs.reduce_often(end, 3, 250_000)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc and /dev/shm")
def test_no_process_handle_or_segment_is_left(capfd: pytest.CaptureFixture[str]) -> None:
    """Case 36 b-d: 100 all-reduces of 1 MB at world 4; killed half-way; an exception."""
    close_pool()
    handles, segments = _handles(), _segments()
    assert run(programs.reduce_often, 100, 250_000, n=4) == [402.0] * 4
    with pytest.raises(RankFailedError, match="rank 2 was killed by signal 9"):
        run(_kill_half_way, n=4)
    with pytest.raises(ArithmeticError, match="half-way"):
        run(_raise_half_way, n=4)
    close_pool()
    assert _children() == set()
    assert _handles() == handles
    assert _segments() == segments
    assert capfd.readouterr().err == ""


def _script(tmp_path: Path, body: str) -> Path:
    file = tmp_path / "script.py"
    file.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "import os, time\nfrom simdist.backends.process import launch\n"
        f"ENTRY = {ENTRY!r}\n{body}"
    )
    return file


def test_a_script_without_a_main_guard_starts_no_others(tmp_path: Path) -> None:
    """Case 39 d: workers never import the script."""
    (tmp_path / "beside.py").write_text("def value():\n    return 5\n")
    script = _script(
        tmp_path,
        "import beside\nprint('script')\n"
        "def train(end):\n    return beside.value() + end.rank\n"
        "print(launch(train, (), world_size=3, entry=ENTRY).results)\n",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr, done.returncode) == ("script\n[5, 6, 7]\n", "", 0)


def test_a_program_from_standard_input(tmp_path: Path) -> None:
    """Case 39 c: as in a notebook, there is no file that a worker could import."""
    text = _script(
        tmp_path,
        "scale = 2\ndef helper(x):\n    return x * scale\n"
        "def train(end):\n    return helper(end.rank)\n"
        "print(launch(train, (), world_size=3, entry=ENTRY).results)\n",
    ).read_text()
    done = subprocess.run([sys.executable, "-"], input=text, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr, done.returncode) == ("[0, 2, 4]\n", "", 0)


def _wait_for_pids(process: subprocess.Popen[str], count: int) -> list[int]:
    assert process.stdout is not None
    return [int(process.stdout.readline().rsplit(None, 1)[1]) for _ in range(count)]


_SLEEPERS = (
    "def train(end):\n    print(os.getpid())\n    time.sleep(60)\n"
    "try:\n    launch(train, (), world_size=3, entry=ENTRY)\n"
    "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n    sys.exit(7)\n"
)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_all_ranks_quietly(tmp_path: Path) -> None:
    command = [sys.executable, str(_script(tmp_path, _SLEEPERS))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pids = _wait_for_pids(process, 3)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - start < STOPPED
    assert (out, err, process.returncode) == ("interrupted\n", "", 7)
    assert all(_gone(pid) for pid in pids)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ranks_end_when_the_caller_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, str(_script(tmp_path, _SLEEPERS))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pids = _wait_for_pids(process, 3)
    process.kill()
    _, err = process.communicate(timeout=20)
    assert err == ""
    assert all(_gone(pid) for pid in pids)
