from __future__ import annotations

import io
import json
import math
import sys

import numpy as np
import pytest

from simdist.cli.output import LONGEST_LIST, jsonable, print_json, print_table


@pytest.mark.parametrize("value", [None, True, 3, "text", 1.5])
def test_plain_values_stay(value: object) -> None:
    assert jsonable(value) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_json_has_no_infinity(value: float) -> None:
    assert jsonable(value) is None


def test_containers_are_followed() -> None:
    assert jsonable({1: (1.0, math.nan), "a": [np.float32(0.5)]}) == {"1": [1.0, None], "a": [0.5]}


def test_small_arrays_are_lists_and_large_ones_a_shape() -> None:
    assert jsonable(np.arange(3)) == [0, 1, 2]
    assert jsonable(np.float64(2.5)) == 2.5
    large = np.zeros((LONGEST_LIST, 2), np.float32)
    assert jsonable(large) == {"shape": [LONGEST_LIST, 2], "dtype": "float32"}


def test_an_unknown_thing_is_its_repr() -> None:
    assert jsonable(print_json).startswith("<function print_json")


def test_what_is_printed_parses(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"time": 0.5, "nan": math.nan})
    assert json.loads(capsys.readouterr().out) == {"time": 0.5, "nan": None}


def test_in_a_pipe_a_table_is_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("rank", "time"), [(0, "1 ms"), (10, "2 ms")], title="times")
    assert capsys.readouterr().out == "times\nrank  time\n0     1 ms\n10    2 ms\n"


def test_a_table_without_rows_is_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("rank", "time"), [])
    assert capsys.readouterr().out == "rank  time\n"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_rich_draws_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "60")
    print_table(("rank", "result"), [(0, "[bold]not markup")], title="times")
    text = terminal.getvalue()
    assert "times" in text
    assert "[bold]not markup" in text
    assert text.count("\n") > 4
