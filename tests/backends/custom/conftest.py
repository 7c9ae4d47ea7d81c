"""A transport that works, and one that can be told to do something wrong."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from simdist.backends.registry import register_backend, unregister_backend

EXAMPLE = Path(__file__).parents[3] / "examples" / "own_backend.py"


@pytest.fixture(scope="session")
def queues():
    """The factory of the example."""
    spec = importlib.util.spec_from_file_location("own_backend", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    unregister_backend("queues")
    return module.queues


@pytest.fixture
def mine(queues):
    """The name under which it is registered."""
    register_backend("mine", queues)
    yield "mine"
    unregister_backend("mine")


@pytest.fixture
def register():
    """Register a factory as ``mine`` for the length of a test."""
    yield lambda factory: register_backend("mine", factory)
    unregister_backend("mine")
