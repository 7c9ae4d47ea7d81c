from __future__ import annotations

import sys

import pytest

from simdist.backends.mpi import library
from simdist.errors import DistBackendError


@pytest.mark.process
def test_communicators_are_made_once(play):
    assert play(2, "library") == [[[0, 2], 3, True, True], [[1, 2], 3, True, True]]


def test_without_mpi4py_the_way_to_install_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    library.mpi.cache_clear()
    with pytest.raises(
        DistBackendError, match=r"backend='mpi' needs mpi4py and an MPI library.*pip install 'simdist\[mpi\]'"
    ):
        library.mpi()
    library.mpi.cache_clear()
