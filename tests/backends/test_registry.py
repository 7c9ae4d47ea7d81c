import pytest

import simdist as sd
from simdist.backends.registry import BACKENDS, find
from simdist.errors import UnknownNameError


def test_every_backend_can_be_loaded():
    assert list(BACKENDS) == ["sim", "process", "mpi"]
    assert all(callable(find(name).load()) for name in BACKENDS)


def test_unknown_names_come_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"there is no backend named 'proces'. Did you mean 'process'"):
        sd.run(lambda rank, world_size: None, world_size=1, backend="proces")
