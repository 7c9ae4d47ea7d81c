from __future__ import annotations

import json
from pathlib import Path

import pytest

import simdist as sd


def test_the_table_is_the_league_s(call) -> None:
    shown = call("league", "all_reduce", "--size", "1MiB", "-n", 8, "--cluster", "dgx-a100")
    assert shown.exit_code == 0
    table = sd.collectives.league("all_reduce", cluster="dgx-a100", world_size=8, nbytes=1 << 20)
    lines = shown.output.splitlines()
    assert lines[0] == table.title
    assert [line.split()[0] for line in lines[2:-1]] == [standing.algorithm for standing in table.standings]
    assert lines[-1] == table.remark == f'algorithms="auto" takes {table.auto}'


def test_as_json_it_has_seconds_and_bytes(call) -> None:
    facts = json.loads(call("league", "broadcast", "--size", "64KiB", "-n", 4, "--json").output)
    assert (facts["bytes"], facts["world_size"]) == (1 << 16, 4)
    assert facts["algorithms"][0]["seconds"] >= facts["lower_bound"] > 0


def test_pictures_are_written(call, tmp_path: Path) -> None:
    curves, steps = tmp_path / "curves.png", tmp_path / "steps.svg"
    shown = call("league", "all_gather", "-n", 4, "--curves", curves, "--steps", steps)
    assert shown.exit_code == 0
    assert f"curves: {curves}" in shown.output and f"steps: {steps}" in shown.output
    assert curves.read_bytes()[:4] == b"\x89PNG" and b"<svg" in steps.read_bytes()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["all_reduse"], "Did you mean 'all_reduce'"),
        (["all_reduce", "--size", "1 furlong"], "has the unit 'furlong', which is none of B, kB"),
        (["all_reduce", "--size", "0.5"], "--size '0.5' is 0.5 bytes: give a whole number that is not negative."),
        (["all_reduce", "--cluster", "dgx-a10"], "Did you mean 'dgx-a100'"),
        (["all_reduce", "--curves", "c.doc"], "does not end like a picture"),
    ],
)
def test_wrong_use_is_explained(call, words: list[str], text: str) -> None:
    shown = call("league", *words)
    assert shown.exit_code == 2
    assert text in shown.stderr
