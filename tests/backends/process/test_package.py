from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simdist.backends import process


def test_every_public_name_is_there() -> None:
    assert {name: getattr(process, name).__name__ for name in process.__all__} == {
        name: name for name in process.__all__
    }


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match=r"module 'simdist\.backends\.process' has no attribute 'lunch'"):
        process.lunch


def test_the_table_of_contents_names_every_module() -> None:
    assert process.__doc__ is not None
    modules = {path.stem for path in Path(process.__file__).parent.glob("*.py")} - {"__init__"}
    assert {module for module in modules if f"`{module}`" not in process.__doc__} == set()


def test_a_worker_does_not_load_the_callers_side() -> None:
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "import simdist; before = set(sys.modules)\n"
        "import simdist.backends.process.worker\n"
        "print(sorted(name.rpartition('.')[2] for name in set(sys.modules) - before if 'backends.process.' in name))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert not {"crew", "child", "pool", "launcher"} & set(eval(shown))
