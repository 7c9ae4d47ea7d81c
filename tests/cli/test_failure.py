from __future__ import annotations

from pathlib import Path

import pytest
import typer

from simdist.cli.failure import EXIT_CODES, UsageError, describe, exit_code, taught
from simdist.errors import ClusterError, DeadlockError, ShapeError, UnknownNameError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (UnknownNameError("cluster", "x", ["y"]), 2),
        (ClusterError("x"), 2),
        (DeadlockError("x"), 1),
        (ShapeError("x"), 1),
        (ValueError("x"), 1),
        (KeyboardInterrupt(), 1),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: BaseException, code: int) -> None:
    assert exit_code(error) == code


def test_the_table_ends_with_a_row_that_always_fits() -> None:
    assert EXIT_CODES[-1][0] is BaseException


def test_our_lesson_is_the_whole_message_with_its_notes() -> None:
    error = DeadlockError("rank 0 waits for rank 1")
    error.add_note("rank 0 at 1.2 ms")
    assert describe(error) == "DeadlockError: rank 0 waits for rank 1\nrank 0 at 1.2 ms"


def test_a_usage_error_is_only_its_text() -> None:
    assert describe(UsageError("write it so")) == "write it so"


def test_their_exception_shows_their_frames_only(tmp_path: Path) -> None:
    from simdist.cli.program import load

    path = tmp_path / "program_that_fails.py"
    path.write_text("def inner():\n    raise KeyError('lost')\n\ndef train(rank, world_size):\n    inner()\n")

    try:
        load(f"{path}:train")(0, 1)
    except KeyError as error:
        error.add_note("rank 0 at 0 s")
        text = describe(error)
    assert "your code only" in text
    assert "program_that_fails.py" in text
    assert "line 2, in inner" in text
    assert text.endswith("KeyError: 'lost'\nrank 0 at 0 s")


def test_frames_of_simdist_are_left_out(tmp_path: Path) -> None:
    from simdist.cli.program import load

    path = tmp_path / "program_that_does_not_load.py"
    path.write_text("1 / 0\n")
    try:
        load(f"{path}:train")
    except ZeroDivisionError as error:
        text = describe(error)
    assert "program_that_does_not_load.py" in text
    assert "simdist/cli" not in text.replace("\\", "/")
    assert "<frozen" not in text


def test_an_exception_without_a_traceback_is_one_line() -> None:
    assert describe(ValueError("plain")) == "ValueError: plain"


def _raiser(error: BaseException) -> None:
    raise error


def test_a_decorated_command_prints_to_standard_error_and_exits(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught:
        taught(_raiser)(UsageError("write it so"))
    assert caught.value.exit_code == 2
    assert capsys.readouterr() == ("", "write it so\n")


def test_ctrl_c_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught:
        taught(_raiser)(KeyboardInterrupt())
    assert caught.value.exit_code == 1
    assert capsys.readouterr().err == "stopped by Ctrl-C: every rank has been ended.\n"


def test_an_exit_passes_through(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught:
        taught(_raiser)(typer.Exit(7))
    assert caught.value.exit_code == 7
    assert capsys.readouterr() == ("", "")


def test_a_decorated_command_keeps_its_signature() -> None:
    def command(world_size: int) -> None:
        """Help."""

    import inspect

    assert list(inspect.signature(taught(command)).parameters) == ["world_size"]
    assert taught(command).__doc__ == "Help."
