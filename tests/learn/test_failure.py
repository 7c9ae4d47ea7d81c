from __future__ import annotations

import pytest

from simdist.backends.watchdog import EndlessLoopError
from simdist.errors import CollectiveMismatchError, DeadlockError, DistTimeoutError, OutOfMemoryError, RankFailedError
from simdist.learn.case import Case
from simdist.learn.failure import explain

CASE = Case(3, 5, 1)


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (DeadlockError("deadlock: no rank can go on."), "deadlock"),
        (DistTimeoutError("too long"), "timeout"),
        (CollectiveMismatchError("rank 1 called broadcast"), "mismatch"),
        (OutOfMemoryError("no room"), "out of memory"),
    ],
)
def test_a_lesson_that_is_written_already_is_passed_on(error: Exception, word: str) -> None:
    assert explain(error, CASE, "", 1.0) == (word, f"p = 3: {error}", True)


def test_an_exception_names_the_learners_line() -> None:
    found = explain(raised(KeyError("chunk")), CASE, __file__, 1.0)
    assert found.word == "KeyError"
    assert found.lesson.startswith("p = 3: KeyError: 'chunk' (test_failure.py:")
    assert found.lesson.endswith(": raise error)")


def test_without_a_line_the_text_alone() -> None:
    assert explain(KeyError("chunk"), CASE, "mine.py", 1.0).lesson == "p = 3: KeyError: 'chunk'"


def test_the_rank_that_raised_is_told() -> None:
    error = ValueError("odd")
    error.add_note("raised in rank 2 at 5 us of simulated time")
    error.add_note("something else")
    lesson = explain(raised(error), CASE, __file__, 1.0).lesson
    assert lesson.splitlines()[1:] == ["raised in rank 2 at 5 us of simulated time"]


def test_a_function_that_takes_too_long() -> None:
    found = explain(raised(EndlessLoopError()), CASE, __file__, 2.5)
    assert found.word == "took too long"
    assert "After 2.5 s on this computer the function had not returned (test_failure.py:" in found.lesson
    assert "Either it is far too slow" in found.lesson
    assert "is its condition never false?" in found.lesson


def test_an_endless_loop_in_simulated_time() -> None:
    error = EndlessLoopError("rank 0: 0.5 s of simulated time have passed")
    assert explain(error, CASE, "", 1.0).lesson == "p = 3: rank 0: 0.5 s of simulated time have passed"


def test_leaving_the_interpreter() -> None:
    found = explain(RankFailedError("rank 1 left with sys.exit(1)"), CASE, "", 1.0)
    text = "p = 3: rank 1 left with sys.exit(1). Return instead of leaving the interpreter."
    assert found == ("left the run", text, True)


def test_the_hole_is_no_mistake() -> None:
    found = explain(NotImplementedError(), CASE, "", 1.0)
    assert not found.is_attempted
    assert found.word == "not attempted"
    assert "replace `raise NotImplementedError` by your program" in found.lesson
