import pytest

import simdist as sd
from simdist.backends.registry import BACKENDS, find, unregister_backend
from simdist.errors import UnknownNameError


def test_every_backend_can_be_loaded():
    assert list(BACKENDS) == ["sim", "process", "mpi"]
    assert all(callable(find(name).load()) for name in BACKENDS)


def test_unknown_names_come_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"there is no backend named 'proces'. Did you mean 'process'"):
        sd.run(lambda rank, world_size: None, world_size=1, backend="proces")


def test_a_backend_of_ones_own_is_found_by_its_name():
    def first(size):
        return []

    def second(size):
        return []

    try:
        sd.register_backend("mine", first)
        sd.register_backend("mine", second)  # a notebook cell is run again
        assert find("mine").factory is second
        assert find("mine").place() is None
        assert callable(find("mine").load())
        with pytest.raises(UnknownNameError, match="Did you mean 'mine'"):
            find("min")
    finally:
        unregister_backend("mine")
    assert list(BACKENDS) == ["sim", "process", "mpi"]


def test_names_that_cannot_be_registered():
    for name in ("two words", "", 3):
        with pytest.raises(ValueError, match="the name of a backend is a word such as 'mine', got"):
            sd.register_backend(name, list)
    with pytest.raises(ValueError, match="'process' is one of simdist's own backends; give another name"):
        sd.register_backend("process", list)
    with pytest.raises(TypeError, match="the factory of backend 'mine' must be a function of the number of ranks"):
        sd.register_backend("mine", [])


@pytest.mark.parametrize("name", ["sim", "mine"])
def test_only_what_was_registered_can_be_taken_out(name):
    with pytest.raises(UnknownNameError, match="there is no registered backend named"):
        unregister_backend(name)
