"""Does a learner's function do what the exercise asks?

``check`` tries it on every case of the exercise, prints one table, and returns a ``Check``. Nothing that the
function does raises here (so a notebook runs on), unless ``raise_on_fail=True`` asks for it. The reference solution
is loaded only after the learner's function has passed, to show its timeline beside the learner's.
"""

from __future__ import annotations

import html
import inspect
import io
import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from simdist.errors import DistBackendError, SimdistError
from simdist.learn.case import Case
from simdist.learn.catalogue import find
from simdist.learn.criterion import Criterion
from simdist.learn.exercise import Exercise
from simdist.learn.failure import Failure
from simdist.learn.isolation import by_value
from simdist.learn.judge import finishes, isolated, measured, real_case
from simdist.learn.table import printable, table
from simdist.learn.trial import HOST_SECONDS, Trial, attempt
from simdist.result import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Check", "ExerciseFailed", "check"]


SHOWN = 16
"""How many ranks are drawn: two machines of eight; more would fill the page and show nothing new."""


class ExerciseFailed(SimdistError, AssertionError):  # noqa: N818  it reads as what it is: an assertion about an exercise
    """A learner's function does not do what the exercise asks; the text is the table."""


@dataclass(frozen=True)
class Check:
    """What a check found.

    Attributes:
        exercise: its name.
        heading: on which machines.
        criteria: the rows of the table.
        run: the learner's run of the exercise's first case, or None if it did not come to its end.
        notes: what the runs had to say about the function.
    """

    exercise: str
    heading: str
    criteria: tuple[Criterion, ...]
    run: Run | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether every criterion is met."""
        return all(row.passed for row in self.criteria)

    @property
    def is_attempted(self) -> bool:
        """False if the starter's hole is still there."""
        return all(row.yours != "not attempted" for row in self.criteria)

    def __str__(self) -> str:
        return table(self.heading, self.criteria, self.notes)

    def __repr__(self) -> str:
        met = sum(row.passed for row in self.criteria)
        return f"Check({self.exercise!r}, passed={self.passed}, {met} of {len(self.criteria)} criteria met)"

    def _repr_html_(self) -> str:
        # check has printed the table already; a notebook's last line must not show it twice
        return f"<code>{html.escape(repr(self))}</code>"

    def timeline(self, ax: Axes | None = None) -> Axes:
        """Draw the learner's run of the exercise's first case, its first ranks.

        Args:
            ax: matplotlib axes to draw on, or None for new ones.

        Raises:
            ExerciseFailed: there is no run to draw.
        """
        return _first_ranks(_existing(self.run, self), ax)

    def reference_timeline(self, ax: Axes | None = None) -> Axes:
        """Draw the reference solution's run of the same case, once the learner's function has passed.

        Args:
            ax: matplotlib axes to draw on, or None for new ones.

        Raises:
            ExerciseFailed: not passed yet.
        """
        return _first_ranks(_existing(self.reference(), self), ax)

    def reference(self) -> Run | None:
        """The reference solution's run of the first case; None as long as the learner's function has not passed."""
        if not self.passed:
            return None
        exercise = find(self.exercise)
        solution = import_module(f"simdist.learn.solutions.{self.exercise}").reference
        case = exercise.cases[0]
        name = f"{self.exercise}, the reference"
        return attempt(
            name, by_value(solution), exercise.program, exercise.given, case, exercise.spec(case),
            cluster=exercise.machines(case),
        ).run  # fmt: skip


def _existing(run: Run | None, result: Check) -> Run:
    if run is None:
        raise ExerciseFailed(f"there is no run to draw yet:\n{result}")
    return run


def _first_ranks(run: Run, ax: Axes | None) -> Axes:
    return run.timeline(ranks=range(min(run.world_size, SHOWN)), ax=ax)


def check(
    name: str, fn: Callable[..., Any], raise_on_fail: bool = False, quiet: bool = False, seconds: float = HOST_SECONDS
) -> Check:
    """Try a function on an exercise and print what was found.

    Args:
        name: of the exercise (``exercises()`` lists them).
        fn: the learner's function; its signature is in the exercise's statement.
        raise_on_fail: raise if a criterion is not met (for tests).
        quiet: print and draw nothing.
        seconds: of this computer's time after which one trial is given up.

    Raises:
        UnknownNameError: no such exercise.
        TypeError: ``fn`` is no function.
        ExerciseFailed: with ``raise_on_fail``, if a criterion is not met; the text is the table.
    """
    exercise = find(name)
    if not callable(fn):
        raise TypeError(f"check({name!r}, fn): fn must be your function, got {type(fn).__name__} {fn!r:.60}.")
    with redirect_stdout(io.StringIO()) if quiet else nullcontext():  # what the learner's function prints is quiet too
        result = _examine(exercise, fn, seconds)
    if not quiet:
        print(printable(str(result), getattr(sys.stdout, "encoding", None)))
        if _in_notebook():
            _draw(result)
    if raise_on_fail and not result.passed:
        raise ExerciseFailed(str(result))
    return result


def _examine(exercise: Exercise, fn: Callable[..., Any], seconds: float) -> Check:
    """Make the trials, stop at the first that fails, judge them."""
    try:
        packed = by_value(fn)
    except DistBackendError as error:
        trials = [Trial(exercise.cases[0], None, Failure("cannot be copied", str(error)), ())]
        return _judged(exercise, trials, None)
    trials = []
    filename = _filename(fn)

    def tried(case: Case, backend: str = "sim") -> Trial:
        return attempt(
            f"{exercise.name}, yours", packed, exercise.program, exercise.given, case, exercise.spec(case),
            cluster=exercise.machines(case), backend=backend, seconds=seconds, filename=filename,
        )  # fmt: skip

    for case in exercise.cases:
        trials.append(tried(case))
        if trials[-1].failure is not None:
            break
    found = _judged(exercise, trials, None)
    if all(row.passed for row in found.criteria[:-1]):
        found = _judged(exercise, trials, tried(real_case(exercise), "process"))
    return found


def _judged(exercise: Exercise, trials: list[Trial], real: Trial | None) -> Check:
    rows = [finishes(exercise, trials)]
    rows += [measured(rule, exercise, trials) for rule in exercise.rules]
    case = real_case(exercise)
    simulated = next((trial for trial in trials if trial.case == case), None)
    rows.append(isolated(case, simulated, real, exercise.is_timed))
    notes = [note for trial in trials for note in (*trial.warnings, *_remarks(trial))]
    heading = f"{exercise.name} · {exercise.cases[0]} · {exercise.about}"
    return Check(exercise.name, heading, tuple(rows), trials[0].run, tuple(dict.fromkeys(notes)))


def _remarks(trial: Trial) -> list[str]:
    """What the run says of the learner's function (that an exercise bills no computing is nothing to tell)."""
    return [note for note in (trial.run.notes if trial.run else ()) if "never waited" in note]


def _filename(fn: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(fn), "__code__", None)
    return code.co_filename if code is not None else ""


def _in_notebook() -> bool:
    """Whether this runs in an IPython kernel (asking must load neither IPython nor matplotlib)."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _draw(result: Check) -> None:
    """Show the learner's timeline and, once it has passed, the reference's."""
    if result.run is not None:
        result.timeline()
    if result.passed:
        result.reference_timeline()
