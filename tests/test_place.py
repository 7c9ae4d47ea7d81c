from __future__ import annotations

import inspect
import linecache
import os
import sys
import types
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import simdist.place
from simdist.place import caller, cells, innermost, name_cells, text


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def test_the_caller_is_the_line_that_called() -> None:
    place = caller()
    assert text(place) == f"test_place.py:{here() - 1}"


def test_simdist_s_own_frames_are_left_out() -> None:
    """A function compiled as if it lay in the package calls; the place is ours."""
    inside = str(Path(simdist.place.__file__).parent / "sim" / "imaginary.py")
    namespace: dict[str, object] = {"caller": caller}
    exec(compile("def call():\n    return caller()\n", inside, "exec"), namespace)
    place = namespace["call"]()  # type: ignore[operator]
    assert text(place) == f"test_place.py:{here() - 1}"


def test_an_exercise_counts_as_the_learner_s_code() -> None:
    inside = str(Path(simdist.place.__file__).parent / "learn" / "exercises" / "imaginary.py")
    namespace: dict[str, object] = {"caller": caller}
    exec(compile("\n\ndef call():\n    return caller()\n", inside, "exec"), namespace)
    assert text(namespace["call"]()) == "imaginary.py:4"  # type: ignore[operator]


def test_a_call_over_several_lines_names_one_of_them() -> None:
    first = here()
    place = caller()
    assert text(place) in {f"test_place.py:{first + step}" for step in (1, 2, 3)}


def test_the_innermost_place_of_a_stack() -> None:
    def stack() -> FrameType:
        return sys._getframe()

    frame = stack()
    place = innermost(frame)
    assert place is not None
    assert place[0] is frame.f_code
    assert innermost(None) is None


def test_a_stack_of_nothing_but_ours_has_no_place() -> None:
    inside = str(Path(simdist.place.__file__).parent / "imaginary.py")
    namespace: dict[str, object] = {"sys": sys}
    exec(compile("def stack():\n    return sys._getframe()\n", inside, "exec"), namespace)
    frame = namespace["stack"]()  # type: ignore[operator]
    assert innermost(frame) is None or innermost(frame)[0].co_filename == __file__  # type: ignore[index]


def test_no_place_has_a_text_too() -> None:
    assert text(None) == "an unknown place"


def test_code_typed_at_a_prompt_shows_as_python_names_it() -> None:
    namespace: dict[str, object] = {"caller": caller}
    exec(compile("place = caller()\n", "<stdin>", "exec"), namespace)
    assert text(namespace["place"]) == "<stdin>:1"  # type: ignore[arg-type]


def test_only_the_name_of_the_file_is_shown() -> None:
    namespace: dict[str, object] = {"caller": caller}
    exec(compile("\nplace = caller()\n", os.path.join("some", "where", "train.py"), "exec"), namespace)
    assert text(namespace["place"]) == "train.py:2"  # type: ignore[arg-type]


CELL = os.path.join("tmp", "ipykernel_77", "451967964.py")


def _ipython(monkeypatch: pytest.MonkeyPatch, numbers: dict[str, str] | None) -> None:
    """An IPython that has run these cells; or is loaded, but not running."""
    label = {name: ("Cell", number) for name, number in (numbers or {}).items()}
    compiler = types.SimpleNamespace(format_code_name=label.get)
    shell = None if numbers is None else types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))


def _place_in(name: str) -> Any:
    namespace: dict[str, object] = {"caller": caller}
    exec(compile("\nplace = caller()\n", name, "exec"), namespace)
    return namespace["place"]


@pytest.mark.parametrize("name", [CELL, "<ipython-input-3-0a1b2c>"])
def test_a_cell_goes_by_its_number(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's name is a hash that IPython made up; the number stands beside the cell."""
    _ipython(monkeypatch, {name: "In[7]"})
    assert text(_place_in(name)) == "In[7]:2"


def test_without_ipython_a_cell_is_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert text(_place_in(CELL)) == "a notebook cell:2"
    _ipython(monkeypatch, None)
    assert text(_place_in(CELL)) == "a notebook cell:2"


def test_another_process_can_be_told_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real rank runs functions from cells that an IPython elsewhere has compiled."""
    _ipython(monkeypatch, {CELL: "In[7]"})
    monkeypatch.setattr(linecache, "cache", {CELL: None, "train.py": None, "<ipython-input-3-0a1b2c>": None})
    known = cells()
    assert known == {CELL: "In[7]"}
    monkeypatch.setitem(sys.modules, "IPython", None)
    before = cells()
    name_cells(known)
    assert text(_place_in(CELL)) == "In[7]:2"
    assert cells() == known
    name_cells(before)
    assert text(_place_in(CELL)) == "a notebook cell:2"
