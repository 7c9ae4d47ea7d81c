from __future__ import annotations

import pytest

import simdist.distributed as dist
from simdist.backends.registry import find, unregister_backend
from simdist.errors import UnknownNameError


def test_torchs_name_registers_too():
    def factory(size):
        return []

    dist.Backend.register_backend("mine", factory, devices=["cpu"])
    try:
        assert find("mine").factory is factory
        assert dist.Backend("mine") == "mine"
    finally:
        unregister_backend("mine")


def test_a_backend_is_its_name():
    assert dist.Backend("SIM") == "sim"
    assert isinstance(dist.Backend("mpi"), str)
    with pytest.raises(UnknownNameError, match="there is no backend named 'nccl'"):
        dist.Backend("nccl")


def test_there_is_one_form_of_factory():
    with pytest.raises(ValueError, match=r"register_backend\(extended_api=True\): there is one form here"):
        dist.Backend.register_backend("mine", list, extended_api=True)
