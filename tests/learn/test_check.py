from __future__ import annotations

import subprocess
import sys
import types
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.errors import SimdistError, UnknownNameError
from simdist.learn import Check, ExerciseFailed, check
from simdist.learn.solutions import exchange as solution


def in_turns(x: Any, rank: int, world_size: int) -> Any:
    """Right, but rank after rank."""
    received = np.empty_like(x)
    right, left = (rank + 1) % world_size, (rank - 1) % world_size
    if rank == 0:
        dist.send(x, right)
        dist.recv(received, left)
    else:
        dist.recv(received, left)
        dist.send(x, right)
    return received


def test_a_right_function_passes() -> None:
    result = check("exchange", solution.reference, quiet=True)
    assert result.passed
    assert all(row.met for row in result.criteria)
    assert [row.name for row in result.criteria] == [
        "finishes",
        "numbers equal the spec's",
        "simulated time",
        "bytes sent by a rank",
        "messages of a rank",
        "same on real processes",
    ]
    assert result.run is not None
    assert result.run.world_size == 3
    assert result.run.name == "exchange, yours"


def test_a_slow_function_fails_in_time_only() -> None:
    result = check("exchange", in_turns, quiet=True)
    assert not result.passed
    assert [row.name for row in result.criteria if row.met is False] == ["simulated time"]
    assert [row.name for row in result.criteria if row.met is None] == ["same on real processes"]
    assert "Too slow: look at the timeline" in str(result)


def test_one_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    result = check("exchange", in_turns)
    printed = capsys.readouterr()
    assert printed.out == f"{result}\n"
    assert printed.err == ""
    assert printed.out.startswith("exchange · p = 3, n = 1 MB · α = 5 us, B = 25 GB/s\ncriterion")
    assert printed.out.endswith("not passed yet: 4 of 6 criteria met\n")


def test_quiet_prints_nothing_even_if_the_function_does(capsys: pytest.CaptureFixture[str]) -> None:
    def loud(x: Any, rank: int, world_size: int) -> None:
        print("here")

    check("exchange", loud, quiet=True)
    assert capsys.readouterr().out == ""
    check("exchange", loud)
    assert "[rank 0] here" in capsys.readouterr().out


def test_two_checks_say_the_same() -> None:
    assert str(check("exchange", in_turns, quiet=True)) == str(check("exchange", in_turns, quiet=True))


def test_raise_on_fail_raises_the_table() -> None:
    with pytest.raises(ExerciseFailed) as caught:
        check("exchange", in_turns, raise_on_fail=True, quiet=True)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, SimdistError)
    assert str(caught.value) == str(check("exchange", in_turns, quiet=True))
    assert check("exchange", solution.reference, raise_on_fail=True, quiet=True).passed


def test_an_unknown_exercise() -> None:
    with pytest.raises(UnknownNameError, match=r"no exercise named 'exchanges'. Did you mean 'exchange'\?"):
        check("exchanges", in_turns)


def test_no_function() -> None:
    with pytest.raises(TypeError, match=r"check\('exchange', fn\): fn must be your function, got int 3"):
        check("exchange", 3)  # type: ignore[arg-type]


def test_the_starter_is_not_attempted_and_raises_nothing() -> None:
    from simdist.learn import exercises

    for exercise in exercises():
        namespace: dict[str, Any] = {}
        exec(exercise.starter, namespace)
        result = check(exercise.name, namespace[exercise.name], quiet=True)
        assert not result.passed
        assert not result.is_attempted
        assert result.criteria[0].yours == "not attempted"
    assert check("exchange", in_turns, quiet=True).is_attempted


def test_an_exception_becomes_a_row_with_the_learners_line() -> None:
    def wrong(x: Any, rank: int, world_size: int) -> Any:
        return x[len(x)]

    result = check("exchange", wrong, quiet=True)
    assert result.criteria[0].yours == "IndexError, p = 3"
    line = wrong.__code__.co_firstlineno + 1
    assert f"(test_check.py:{line}: return x[len(x)])" in " ".join(str(result).split())
    assert "raised in rank 0 at 0 s" in str(result)
    assert "Traceback" not in str(result)
    assert "trial.py" not in str(result)
    assert result.run is None


def test_a_deadlock_becomes_a_lesson_with_the_learners_line() -> None:
    def all_send_first(x: Any, rank: int, world_size: int) -> Any:
        dist.send(x, (rank + 1) % world_size)

    shown = str(check("exchange", all_send_first, quiet=True))
    line = all_send_first.__code__.co_firstlineno + 1
    assert f"rank 0 at 0 s waits in tag 0: send to rank 1 (needs rank 1), test_check.py:{line}" in shown
    assert "The cycle: 0 -> 1 -> 2 -> 0." in shown


def test_a_mismatch_becomes_a_lesson() -> None:
    def odd(x: Any, rank: int, world_size: int) -> None:
        dist.broadcast(x, src=0) if rank else dist.all_reduce(x)

    result = check("ring_all_reduce", odd, quiet=True)
    assert result.criteria[0].yours == "mismatch, p = 8"
    assert "broadcast" in result.criteria[0].lesson
    assert "all_reduce" in result.criteria[0].lesson


def test_a_wrong_signature_becomes_a_row() -> None:
    result = check("exchange", lambda x: x, quiet=True)
    assert result.criteria[0].yours == "TypeError, p = 3"


def test_what_cannot_be_copied_becomes_a_row() -> None:
    import threading

    lock = threading.Lock()
    result = check("exchange", lambda x, rank, world_size: lock, quiet=True)
    assert result.criteria[0].yours == "cannot be copied, p = 3"
    assert "lock" in result.criteria[0].lesson


def test_an_endless_loop_ends() -> None:
    def loop(x: Any, rank: int, world_size: int) -> None:
        while True:
            pass

    result = check("exchange", loop, quiet=True, seconds=0.6)
    assert result.criteria[0].yours == "took too long, p = 3"


def test_a_forgotten_wait_is_noted() -> None:
    def forgets(x: Any, rank: int, world_size: int) -> Any:
        received = np.empty_like(x)
        dist.isend(x, (rank + 1) % world_size)
        dist.irecv(received, (rank - 1) % world_size).wait()
        return received

    assert any("never waited for" in note for note in check("exchange", forgets, quiet=True).notes)


def test_data_in_a_variable_of_a_module_is_seen_on_real_processes() -> None:
    """The right messages, but the data goes through a module that all simulated ranks share."""

    def through_numpy(x: Any, rank: int, world_size: int) -> Any:
        import numpy

        shelf = numpy.__dict__.setdefault("_shelf", {})
        shelf[rank] = x.copy()
        incoming = dist.irecv(numpy.empty_like(x), src=(rank - 1) % world_size)
        dist.isend(numpy.zeros_like(x), dst=(rank + 1) % world_size).wait()
        incoming.wait()
        return shelf[(rank - 1) % world_size]

    try:
        result = check("exchange", through_numpy, quiet=True)
    finally:
        np.__dict__.pop("_shelf", None)
    assert [row.name for row in result.criteria if not row.passed] == ["same on real processes"]
    assert "On a cluster nothing is shared." in " ".join(str(result).split())


def test_a_check_is_a_value() -> None:
    result = Check("exchange", "heading", ())
    with pytest.raises(FrozenInstanceError):
        result.exercise = "other"  # type: ignore[misc]
    assert repr(check("exchange", in_turns, quiet=True)) == "Check('exchange', passed=False, 4 of 6 criteria met)"


def test_a_notebook_shows_one_line_after_the_table() -> None:
    shown = check("exchange", in_turns, quiet=True)._repr_html_()
    assert shown == "<code>Check(&#x27;exchange&#x27;, passed=False, 4 of 6 criteria met)</code>"


def test_the_reference_is_shown_only_after_passing() -> None:
    failed = check("exchange", in_turns, quiet=True)
    assert failed.reference() is None
    with pytest.raises(ExerciseFailed, match="there is no run to draw yet"):
        failed.reference_timeline()
    passed = check("exchange", solution.reference, quiet=True)
    reference = passed.reference()
    assert reference is not None
    assert reference.name == "exchange, the reference"
    assert passed.run is not None
    assert reference.time == passed.run.time


def test_timelines_are_drawn_on_the_given_axes() -> None:
    from matplotlib.figure import Figure

    result = check("exchange", solution.reference, quiet=True)
    ax = Figure().subplots()
    assert result.timeline(ax=ax) is ax
    assert ax.patches or ax.collections
    other = Figure().subplots()
    assert result.reference_timeline(ax=other) is other


def test_of_many_ranks_the_first_are_drawn() -> None:
    from matplotlib.figure import Figure

    from simdist.learn.solutions.small_all_reduce import reference

    ax = check("small_all_reduce", reference, quiet=True).timeline(ax=Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"rank {rank}" for rank in range(16)]


def test_in_a_notebook_the_timelines_follow_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(Check, "timeline", lambda self, ax=None: drawn.append("yours"))
    monkeypatch.setattr(Check, "reference_timeline", lambda self, ax=None: drawn.append("reference"))
    check("exchange", in_turns)
    assert drawn == ["yours"]
    check("exchange", solution.reference)
    assert drawn == ["yours", "yours", "reference"]
    check("exchange", lambda x: x)
    check("exchange", in_turns, quiet=True)
    assert drawn == ["yours", "yours", "reference"]


def test_piped_it_prints_plain_text_and_loads_no_matplotlib(tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text(
        "import sys\nfrom simdist.learn import check\n"
        "def exchange(x, rank, world_size):\n    return x\n"
        "check('exchange', exchange)\n"
        "assert not [n for n in sys.modules if n.startswith('matplotlib') or 'learn.solutions.' in n]\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, check=True, env={"PYTHONIOENCODING": "ascii", "PATH": ""}
    )
    text = done.stdout.decode("ascii")
    assert "Moves too little" in text
    assert "alpha = 5 us" in text
    assert done.stderr == b""
