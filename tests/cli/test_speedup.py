from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_perfect_work_has_perfect_speed_up(call, program: Path) -> None:
    facts = json.loads(
        call("speedup", f"{program}:work", "--cluster", "dgx-a100", "--world-sizes", "1,2,8", "--json").output
    )
    assert facts["world_sizes"] == [1, 2, 8]
    assert facts["mode"] == "strong"
    assert facts["speedup"] == pytest.approx([1, 2, 8])
    assert facts["efficiency"] == pytest.approx([1, 1, 1])
    assert facts["serial_fraction"] == pytest.approx(0, abs=1e-9)


def test_the_table_and_the_picture(call, program: Path, tmp_path: Path) -> None:
    picture = tmp_path / "speedup.png"
    shown = call("speedup", f"{program}:work", "--world-sizes", "1,2", "--arg", "seconds=3.0", "--plot", picture)
    assert shown.exit_code == 0, shown.output
    assert "1.5" in shown.output
    assert f"plot: {picture}" in shown.output
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_weak_scaling(call, program: Path) -> None:
    facts = json.loads(call("speedup", f"{program}:work", "--weak", "--world-sizes", "1,2", "--json").output)
    assert facts["mode"] == "weak"


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ("1;2", "--world-sizes '1;2' is not a list of numbers: for example 1,2,4,8."),
        ("", "is not a list of numbers"),
        ("0,1", "holds a number below 1: a run has at least one rank."),
        ("4,2", "has to rise: for example 1,2,4,8."),
        ("2,2", "has to rise"),
    ],
)
def test_a_bad_list_of_sizes_is_explained(call, program: Path, sizes: str, text: str) -> None:
    shown = call("speedup", f"{program}:work", "--world-sizes", sizes)
    assert shown.exit_code == 2
    assert text in shown.stderr


def test_an_exception_in_a_rank_is_exit_code_1(call, program: Path) -> None:
    shown = call("speedup", f"{program}:fail", "--world-sizes", "2,4")
    assert shown.exit_code == 1
    assert "no luck on this rank" in shown.stderr


def test_an_unknown_cluster_is_wrong_use(call, program: Path) -> None:
    shown = call("speedup", f"{program}:work", "--cluster", "dgx-a10")
    assert shown.exit_code == 2
    assert "Did you mean 'dgx-a100'" in shown.stderr
