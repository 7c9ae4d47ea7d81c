from __future__ import annotations

import sys
from pathlib import Path

import pytest

from simdist.cli.failure import UsageError
from simdist.cli.program import algorithms, arguments, load


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "neighbour_of_it.py").write_text("VALUE = 7\n")
    path = tmp_path / "file_with_functions.py"
    path.write_text(
        "import neighbour_of_it\nSIZE = 3\n"
        "def train(rank, world_size, steps=2, lr=0.5, sizes=()):\n    return (rank, world_size, steps, lr, sizes)\n"
        "def value(rank, world_size):\n    return neighbour_of_it.VALUE\n"
        "def anything(rank, world_size, **options):\n    return options\n"
        "def _hidden(): pass\n"
        "if __name__ == '__main__':\n    raise SystemExit('ran as a script')\n"
    )
    return path


def test_the_named_function_is_found(file: Path) -> None:
    assert load(f"{file}:train")(0, 4) == (0, 4, 2, 0.5, ())


def test_the_file_may_import_its_neighbours(file: Path) -> None:
    assert load(f"{file}:value")(0, 1) == 7


def test_the_module_is_known_by_its_name_so_that_pickling_finds_it(file: Path) -> None:
    function = load(f"{file}:train")
    assert sys.modules[function.__module__].train is function


@pytest.mark.parametrize("spec", ["train", "train.py", ":train", "train.py:"])
def test_a_spec_without_both_parts_is_refused(spec: str) -> None:
    with pytest.raises(
        UsageError, match=r"is not FILE:FUNCTION\. Name a Python file and a function in it: train\.py:train"
    ):
        load(spec)


def test_a_missing_file_is_named_with_the_nearest_one(file: Path) -> None:
    wrong = file.with_name("file_with_function.py")
    with pytest.raises(
        UsageError, match=r"there is no file .*file_with_function\.py'\. Did you mean .*file_with_functions\.py\?"
    ):
        load(f"{wrong}:train")


def test_a_missing_file_in_a_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*nothing\.py'\.$"):
        load(f"{tmp_path}/no/nothing.py:train")


def test_a_missing_function_is_named_with_the_nearest_and_all(file: Path) -> None:
    expected = r"has no function 'trian'\. Did you mean 'train'\? It holds: train, value, anything\.$"
    with pytest.raises(UsageError, match=expected):
        load(f"{file}:trian")


def test_what_is_not_callable_is_no_function(file: Path) -> None:
    with pytest.raises(UsageError, match="has no function 'SIZE'"):
        load(f"{file}:SIZE")


def test_a_file_that_is_no_python_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("def train(rank, world_size): pass\n")
    with pytest.raises(UsageError, match=r"is not a Python file: its name has to end in \.py"):
        load(f"{path}:train")


def test_an_error_in_the_file_is_theirs_and_leaves_no_half_module(tmp_path: Path) -> None:
    path = tmp_path / "broken_program_file.py"
    path.write_text("1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        load(f"{path}:train")
    assert "broken_program_file" not in sys.modules


def test_a_file_called_like_a_loaded_module_does_not_replace_it(tmp_path: Path) -> None:
    import json

    import cloudpickle

    path = tmp_path / "json.py"
    path.write_text("def train(rank, world_size):\n    return 'mine'\n")
    try:
        function = load(f"{path}:train")
        assert function(0, 1) == "mine"
        assert sys.modules["json"] is json
        assert b"mine" in cloudpickle.dumps(function), "it travels by value: json is another module elsewhere"
    finally:
        sys.path.remove(str(tmp_path))


def test_a_class_instance_that_can_be_called_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "callable_program.py"
    path.write_text("class T:\n    def __call__(self, rank, world_size):\n        return rank\ntrain = T()\n")
    assert load(f"{path}:train")(3, 4) == 3


def test_arguments_are_python_literals_or_text(file: Path) -> None:
    function = load(f"{file}:train")
    assert arguments(function, ["steps=20", "lr=1e-3", "sizes=[64, 10]"]) == {
        "steps": 20,
        "lr": 1e-3,
        "sizes": [64, 10],
    }
    assert arguments(function, ["sizes=wide"]) == {"sizes": "wide"}
    assert arguments(function, ["sizes=a=b"]) == {"sizes": "a=b"}


def test_no_arguments_are_none(file: Path) -> None:
    assert arguments(load(f"{file}:train"), []) == {}


@pytest.mark.parametrize("pair", ["steps", "=3", "2=3", "a b=3"])
def test_a_pair_that_is_none_is_refused(file: Path, pair: str) -> None:
    with pytest.raises(UsageError, match="is not key=value: for example --arg steps=20"):
        arguments(load(f"{file}:train"), [pair])


def test_an_unknown_argument_is_refused_with_the_nearest(file: Path) -> None:
    expected = r"train has no parameter 'step'\. Did you mean 'steps'\? It takes: steps, lr, sizes\."
    with pytest.raises(UsageError, match=expected):
        arguments(load(f"{file}:train"), ["step=3"])


def test_rank_and_world_size_cannot_be_given(file: Path) -> None:
    with pytest.raises(
        UsageError, match=r"value has no parameter 'rank'\. It takes: nothing besides rank and world_size"
    ):
        arguments(load(f"{file}:value"), ["rank=3"])


def test_a_function_with_keywords_takes_any(file: Path) -> None:
    assert arguments(load(f"{file}:anything"), ["depth=3"]) == {"depth": 3}


def test_an_algorithm_is_named_for_each_collective_or_left_to_the_chooser() -> None:
    assert algorithms(None) == {}
    assert algorithms(["all_reduce=star_all_reduce"]) == {"all_reduce": "star_all_reduce"}
    chosen = algorithms(["all_reduce=ring_all_reduce", "auto"])
    assert chosen.pop("all_reduce") == "ring_all_reduce"
    assert chosen["broadcast"] == "auto" and set(chosen.values()) == {"auto"}
    with pytest.raises(UsageError, match="--algorithm 'star' is neither auto nor collective=name"):
        algorithms(["star"])
