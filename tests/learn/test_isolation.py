from __future__ import annotations

import pickle
import threading
from functools import partial
from typing import Any

import pytest

from simdist.errors import DistBackendError
from simdist.learn.isolation import by_value
from simdist.learn.solutions import exchange

SHARED: list[int] = []
LOCK = threading.Lock()


def remember(value: int) -> list[int]:
    SHARED.append(value)
    return SHARED


def through_another(value: int) -> list[int]:
    return remember(value)


def with_a_lock() -> None:
    with LOCK:
        pass


def copy(packed: bytes) -> Any:
    return pickle.loads(packed)[0]


@pytest.mark.parametrize("fn", [remember, through_another, partial(remember)])
def test_a_copy_has_the_variables_of_its_module_for_itself(fn: Any) -> None:
    packed = by_value(fn)
    first, second = copy(packed), copy(packed)
    assert first(1) == [1]
    assert second(2) == [2]
    assert first(3) == [1, 3]
    assert SHARED == []


def test_a_closure_is_copied_too() -> None:
    seen: list[int] = []

    def fn(value: int) -> list[int]:
        seen.append(value)
        return seen

    assert copy(by_value(fn))(1) == [1]
    assert seen == []


def test_the_package_itself_can_be_packed() -> None:
    assert copy(by_value(exchange.reference)).__name__ == "reference"


def test_a_builtin_function_can_be_packed() -> None:
    assert copy(by_value(len))([1, 2]) == 2


def test_what_cannot_be_copied_is_named() -> None:
    with pytest.raises(DistBackendError, match="with_a_lock") as caught:
        by_value(with_a_lock)
    assert "'LOCK'" in str(caught.value)
    assert "Create the object inside the function" in str(caught.value)


def test_nothing_stays_registered() -> None:
    import cloudpickle

    before = set(cloudpickle.list_registry_pickle_by_value())
    by_value(remember)
    with pytest.raises(DistBackendError):
        by_value(with_a_lock)
    assert set(cloudpickle.list_registry_pickle_by_value()) == before


def test_libraries_are_not_copied() -> None:
    import numpy as np

    import simdist.distributed as dist

    assert copy(by_value(dist.all_reduce)) is dist.all_reduce
    assert copy(by_value(np.sum)) is np.sum
