"""What does a person see when a command fails, and with which exit code?

simdist's own errors are lessons: their text is the whole message. An exception from the person's function is shown with a
traceback of *their* code, without simdist's frames in between; what simdist noted on it (rank, simulated time) comes last.
"""

from __future__ import annotations

import contextlib
import functools
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

import simdist
from simdist.errors import ClusterError, SimdistError, UnknownNameError

__all__ = ["EXIT_CODES", "UsageError", "describe", "exit_code", "one_voice", "taught"]


class UsageError(SimdistError):
    """The command was used wrongly: the text says what to write instead."""


EXIT_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (UsageError, 2),
    (UnknownNameError, 2),
    (ClusterError, 2),
    (BaseException, 1),
)
"""The first row whose class fits decides."""

_OURS = tuple(str(Path(directory).resolve()) for directory in simdist.__path__)
_LIBRARIES = ("simpy", "greenlet", "typer", "click")


def exit_code(error: BaseException) -> int:
    """The exit code for an exception."""
    return next(code for kind, code in EXIT_CODES if isinstance(error, kind))


def _theirs(frame: traceback.FrameSummary) -> bool:
    path = Path(frame.filename)
    ours = frame.filename.startswith(_OURS) and "exercises" not in path.parts
    return not ours and path.parent.name not in _LIBRARIES and not frame.filename.startswith("<frozen")


def describe(error: BaseException) -> str:
    """The text for standard error.

    Args:
        error: what a command raised.

    Returns:
        The lesson of one of our errors with its notes; else the traceback through the person's own code.
    """
    if isinstance(error, SimdistError):
        notes = getattr(error, "__notes__", [])
        return "\n".join(
            [f"{type(error).__name__}: {error}" if not isinstance(error, UsageError) else str(error), *notes]
        )
    shown = traceback.TracebackException.from_exception(error)
    frames = [frame for frame in shown.stack if _theirs(frame)]
    head = ["Traceback (most recent call last), your code only:\n", *traceback.format_list(frames)] if frames else []
    return "".join([*head, *shown.format_exception_only()]).rstrip("\n")


@contextlib.contextmanager
def one_voice(speaks: bool) -> Iterator[None]:
    """Where several processes run one command (under mpiexec), one of them speaks.

    Args:
        speaks: whether it is this one. The others do the same, write nothing to standard output, leave no file, and end with
            the same exit code.
    """
    if speaks:
        yield
        return
    try:
        yield
    except Exception as error:
        raise typer.Exit(exit_code(error)) from None


def taught(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command: what it raises becomes a text on standard error and an exit code."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (typer.Exit, BrokenPipeError):  # click ends quietly when nobody reads on: `simdist clusters | head -1`
            raise
        except KeyboardInterrupt:
            typer.echo("stopped by Ctrl-C: every rank has been ended.", err=True)
            raise typer.Exit(1) from None
        except Exception as error:
            typer.echo(describe(error), err=True)
            raise typer.Exit(exit_code(error)) from None

    return wrapper
