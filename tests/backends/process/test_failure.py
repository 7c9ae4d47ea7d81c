from __future__ import annotations

import pickle
import threading

import pytest

from simdist.backends.process.claim import Claim
from simdist.backends.process.failure import Report, exit_text, lost, report, verdict
from simdist.backends.process.patience import DisagreementError, ExpiredError, StrandedError
from simdist.comm.cycle import BREAK_IT
from simdist.comm.transport import Tag
from simdist.errors import DistTimeoutError, RankFailedError


class TwoArgumentsError(Exception):
    """Pickles, but cannot be rebuilt."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first}-{second}")


def _raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def test_the_original_comes_back_with_rank_time_and_traceback() -> None:
    error = verdict([report(2, 0.25, _raised(KeyError("weights")))], {})
    assert type(error) is KeyError
    assert error.args == ("weights",)
    assert error.__notes__ == ["raised on rank 2 (process) at 0.250 s"]
    assert isinstance(error.__cause__, RankFailedError)
    text = str(error.__cause__)
    assert text.startswith("rank 2 raised\n\nTraceback (most recent call last):")
    assert "test_failure.py" in text
    assert "raise error" in text


def test_notes_and_attributes_of_the_original_are_kept() -> None:
    original = ExpiredError("slow")
    original.add_note("look at the network")
    error = verdict([report(0, 1.0, _raised(original))], {})
    assert error.__notes__[0] == "look at the network"


def test_an_exception_that_cannot_be_pickled_is_told_in_words() -> None:
    original = ValueError("bad")
    original.lock = threading.Lock()  # type: ignore[attr-defined]
    error = verdict([report(1, 0.0, _raised(original))], {})
    assert type(error) is RankFailedError
    assert str(error) == "rank 1 raised ValueError: bad (the original could not be pickled)"
    assert "Traceback" in str(error.__cause__)


def test_an_exception_that_cannot_be_rebuilt_is_told_in_words() -> None:
    error = verdict([report(1, 0.0, _raised(TwoArgumentsError(3, 4)))], {})
    assert type(error) is RankFailedError
    assert "TwoArgumentsError: 3-4 (the original could not be rebuilt here: TypeError:" in str(error)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (None, "exit code 0"),
        (0, "exit code 0"),
        (3, "exit code 3"),
        ("no data", r"exit code 1 \(sys.exit\) \(no data\)"),
    ],
)
def test_sys_exit(code: object, text: str) -> None:
    with pytest.raises(RankFailedError, match=rf"^rank 2 left with {text}.* before it returned$"):
        raise verdict([report(2, 0.0, SystemExit(code))], {})


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (-9, "rank 1 was killed by signal 9 (SIGKILL): by somebody, or by the system because memory ran out"),
        (-11, "rank 1 was killed by signal 11 (SIGSEGV)"),
        (-123, "rank 1 was killed by signal 123"),
        (3, "rank 1 left with exit code 3 before it returned"),
        (None, "rank 1 closed its connection and does not answer"),
    ],
)
def test_the_end_of_a_process_in_words(code: int | None, text: str) -> None:
    assert exit_text(1, code) == text
    assert str(verdict([lost(1, 0.0, code, [])], {})) == text


def test_last_words() -> None:
    error = verdict([lost(0, 0.0, 1, ["Traceback", "ImportError: x"])], {})
    assert str(error).endswith("before it returned. Its last words:\n    Traceback\n    ImportError: x")


def test_the_earliest_is_raised_and_the_others_are_noted() -> None:
    reports = [
        report(0, 0.3, _raised(ValueError("late"))),
        report(2, 0.1, _raised(KeyError("b"))),
        report(1, 0.1, _raised(KeyError("a"))),
    ]
    error = verdict(reports, {})
    assert error.args == ("a",)
    assert error.__notes__ == [
        "raised on rank 1 (process) at 0.100 s",
        "rank 2 failed too, at 0.100 s: KeyError: 'b'",
        "rank 0 failed too, at 0.300 s: ValueError: late",
    ]


def test_a_rank_that_only_waited_is_not_the_reason() -> None:
    reports = [report(0, 0.1, _raised(StrandedError("waits"))), lost(1, 0.2, -9, [])]
    assert "rank 1 was killed" in str(verdict(reports, {}))


def test_a_vain_wait_shows_what_every_rank_was_doing() -> None:
    first = report(0, 0.5, _raised(ExpiredError("rank 0 waited 0.5 s")), ["receive of 8 bytes from rank 1 (a.py:3)"])
    second = report(3, 0.6, _raised(ExpiredError("rank 3 waited 0.5 s")))
    error = verdict([second, first], {1: ["has returned"], 2: ["waits for x", "waits for y"]})
    assert isinstance(error, DistTimeoutError)
    assert str(error).splitlines()[:-1] == [
        "rank 0 waited 0.5 s",
        "What each rank was doing:",
        "  rank 0 waits for receive of 8 bytes from rank 1 (a.py:3)",
        "  rank 1 has returned",
        "  rank 2 waits for x",
        "  rank 2 waits for y",
    ]
    assert str(error).splitlines()[-1].startswith("  rank 3 ")


def _waits(rank: int, peer: int, note: bytes = b"", tag: Tag = (0, 1, 3)) -> Report:
    claim = Claim(rank, peer, True, tag, note, awaited=True)
    return report(rank, 0.5, _raised(ExpiredError(f"rank {rank} waited")), ["x"], [claim])


def test_a_circle_of_waiting_ranks_is_told_with_the_way_out() -> None:
    lines = str(verdict([_waits(0, 1), _waits(1, 0)], {})).splitlines()
    assert lines[-2:] == ["The cycle: 0 -> 1 -> 0.", BREAK_IT]
    assert "cycle" not in str(verdict([_waits(0, 1), _waits(1, 2)], {}))


def test_ranks_that_differ_are_told_so_and_of_no_circle() -> None:
    notes = [f"collective 3 of group 'world': {what}\nt.py:5".encode() for what in ("barrier", "new_group([0])")]
    error = verdict([_waits(0, 1, notes[0]), _waits(1, 0, notes[1])], {})
    assert isinstance(error, DisagreementError)
    assert str(error).startswith(
        "collective 3 of group 'world' is not the same on all ranks: rank 0 called barrier (t.py:5), but"
    )
    assert "cycle" not in str(error)


def test_reports_travel() -> None:
    made = report(1, 0.5, _raised(ValueError("x")), ("w",))
    assert pickle.loads(pickle.dumps(made)) == made
    assert isinstance(made, Report)
    assert not made.stuck
