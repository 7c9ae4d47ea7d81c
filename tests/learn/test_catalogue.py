from __future__ import annotations

import subprocess
import sys

import pytest

from simdist import learn
from simdist.errors import UnknownNameError
from simdist.learn.catalogue import NAMES, exercises, find


def test_the_exercises_are_in_the_order_of_the_course() -> None:
    assert [exercise.name for exercise in exercises()] == list(NAMES)
    assert NAMES == (
        "exchange", "measure_link", "tree_broadcast", "ring_all_reduce", "small_all_reduce", "adaptive_all_reduce",
        "hierarchical_all_reduce", "data_parallel_step",
    )  # fmt: skip


def test_an_exercise_is_found_by_its_name() -> None:
    for exercise in exercises():
        assert find(exercise.name) is exercise


def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        find("ring_allreduce")
    assert str(caught.value) == (
        "there is no exercise named 'ring_allreduce'. Did you mean 'ring_all_reduce' or 'small_all_reduce'? "
        f"Known: {', '.join(sorted(NAMES))}."
    )


def test_the_function_keeps_its_name_when_the_files_are_loaded() -> None:
    """The package of the files has the same name; loading one must not put it in the function's place."""
    assert learn.exercises() == exercises()
    assert learn.exercises() == exercises()


def test_neither_solutions_nor_matplotlib_are_loaded_with_the_exercises() -> None:
    program = (
        "import sys\nfrom simdist.learn import exercises, hint\nexercises(); hint('exchange', 3)\n"
        "assert not [name for name in sys.modules if 'solutions' in name or name.startswith('matplotlib')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
