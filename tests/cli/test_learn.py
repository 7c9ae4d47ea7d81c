from __future__ import annotations

import json
from pathlib import Path

import pytest

from simdist import learn

NAMES = [exercise.name for exercise in learn.exercises()]


def test_the_list_has_a_line_for_each(call) -> None:
    shown = call("learn", "list")
    assert shown.exit_code == 0
    assert [line.split()[0] for line in shown.output.splitlines()[1:]] == NAMES


def test_the_list_as_json(call) -> None:
    assert [row["name"] for row in json.loads(call("learn", "list", "--json").output)] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_is_shown_with_the_program_to_begin_with(call, name: str) -> None:
    shown = call("learn", "show", name)
    assert shown.exit_code == 0
    assert f"{name}(" in shown.output.split("->")[0]
    alone = call("learn", "show", name, "--starter").output
    assert shown.output.endswith(alone)
    assert f"def {name}(" in alone


def test_the_program_to_begin_with_is_not_attempted(call, tmp_path: Path) -> None:
    path = tmp_path / "begun.py"
    path.write_text(call("learn", "show", "tree_broadcast", "--starter").output)
    shown = call("learn", "check", "tree_broadcast", f"{path}:tree_broadcast")
    assert shown.exit_code == 1
    assert "not attempted" in shown.output


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", [1, 2, 3])
def test_every_hint(call, name: str, level: int) -> None:
    shown = call("learn", "hint", name, "--level", level)
    assert shown.exit_code == 0
    assert len(shown.output.strip()) > 10


def test_there_is_no_fourth_hint(call) -> None:
    assert call("learn", "hint", NAMES[0], "--level", 4).exit_code == 2


@pytest.mark.parametrize("words", [("hint", "rings"), ("show", "rings"), ("check", "rings", "{}:nothing")])
def test_an_unknown_exercise_is_wrong_use(call, tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "solution_to_nothing.py"
    path.write_text("def nothing(*args):\n    return None\n")
    shown = call("learn", *(word.format(path) for word in words))
    assert shown.exit_code == 2
    assert "there is no exercise named 'rings'" in shown.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_solution_that_does_nothing_fails_with_exit_code_1(call, tmp_path: Path, name: str) -> None:
    path = tmp_path / "solution_that_does_nothing.py"
    path.write_text("def nothing(*args, **options):\n    return None\n")
    assert call("learn", "check", name, f"{path}:nothing").exit_code == 1


def test_a_check_as_json_is_json_alone(call, tmp_path: Path) -> None:
    path = tmp_path / "solution_as_json.py"
    path.write_text("def nothing(x, rank, world_size):\n    print('working')\n")
    shown = call("learn", "check", "exchange", f"{path}:nothing", "--json")
    assert shown.exit_code == 1
    found = json.loads(shown.stdout)
    assert (found["exercise"], found["passed"]) == ("exchange", False)
    assert "finishes: yes (p = 2, 3, 8) ✔" in found["criteria"]
