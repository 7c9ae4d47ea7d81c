from __future__ import annotations

import pickle

import pytest

from simdist import errors
from simdist.errors import SimdistError, UnknownNameError, nearest

CLASSES = [getattr(errors, name) for name in errors.__all__ if name != "nearest"]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_is_ours(kind: type[Exception]) -> None:
    assert issubclass(kind, SimdistError)
    assert kind.__doc__


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("UnknownNameError", ValueError),
        ("ClusterError", ValueError),
        ("ShapeError", RuntimeError),
        ("ShapeError", ValueError),
        ("GradientError", RuntimeError),
        ("OutOfMemoryError", RuntimeError),
        ("DistError", RuntimeError),
        ("DistTimeoutError", TimeoutError),
    ],
)
def test_code_that_catches_the_built_in_class_works(name: str, builtin: type[Exception]) -> None:
    assert issubclass(getattr(errors, name), builtin)


@pytest.mark.parametrize(
    "name", ["DistBackendError", "CollectiveMismatchError", "DeadlockError", "DistTimeoutError", "RankFailedError"]
)
def test_what_goes_wrong_between_ranks_is_a_dist_error(name: str) -> None:
    assert issubclass(getattr(errors, name), errors.DistError)


def test_an_unknown_name_lists_the_nearest_and_all() -> None:
    error = UnknownNameError("cluster", "dgx-a10", ["laptop", "dgx-a100", "dgx-h100"])
    expected = (
        "there is no cluster named 'dgx-a10'. Did you mean 'dgx-a100' or 'dgx-h100'? Known: dgx-a100, dgx-h100, laptop."
    )
    assert str(error) == expected


def test_an_unknown_name_like_none_lists_all() -> None:
    assert str(UnknownNameError("backend", "quantum", ["sim"])) == "there is no backend named 'quantum'. Known: sim."


def test_a_hint_comes_last() -> None:
    text = str(UnknownNameError("level", "x", [], "Only one exists yet."))
    assert text == "there is no level named 'x'. Only one exists yet."


def test_a_name_that_is_no_text_is_shown_as_it_is() -> None:
    assert str(UnknownNameError("backend", None, ["sim"])).startswith("there is no backend named None.")


def test_an_unknown_name_survives_the_way_to_another_process() -> None:
    error = UnknownNameError("cluster", "x", ["y"], "Try y.")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.what, again.name, again.known) == (str(error), "cluster", "x", ["y"])


def test_the_nearest_names_are_few_and_best_first() -> None:
    assert nearest("spedup", ["speedup", "run", "trace"]) == ["speedup"]
    assert nearest("DGX-A100", ["dgx-a100", "dgx-h100", "dgx-h200"])[0] == "dgx-a100"
    assert nearest("zzz", ["speedup"]) == []
    assert len(nearest("ab", ["aba", "abb", "abc"], count=1)) == 1
