from __future__ import annotations

import json
from pathlib import Path

import pytest

from simdist.backends.registry import BACKENDS, unregister_backend

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_backend.py"


@pytest.fixture(autouse=True)
def _tidy():
    yield
    for name in [name for name in BACKENDS if name not in ("sim", "process", "mpi")]:
        unregister_backend(name)


def test_a_backend_is_tried(call) -> None:
    shown = call("conformance", "sim", "-n", 2, "-n", 3, "--only", "objects")
    assert shown.exit_code == 0
    assert shown.output.splitlines() == [
        "backend 'sim': 4 passed",
        "  objects            2 ranks ok  3 ranks ok",
        "  messages: objects  2 ranks ok  3 ranks ok",
    ]


def test_a_factory_in_a_file_is_tried(call) -> None:
    shown = call("conformance", f"{EXAMPLE}:queues", "-n", 2, "--only", "^objects", "--json")
    assert shown.exit_code == 0, shown.output
    told = json.loads(shown.output)
    assert (told["backend"], told["passed"], told["left"]) == ("queues", True, "")
    assert told["findings"][0] == {"name": "transport: order", "world_size": 2, "wrong": ""}
    assert told["findings"][-1] == {"name": "objects", "world_size": 2, "wrong": ""}
    assert len(told["fingerprint"]) == 64


def test_what_does_not_pass_is_the_exit_code(call, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("def nothing(size):\n    return []\n")
    shown = call("conformance", f"{path}:nothing")
    assert shown.exit_code == 1
    assert "backend 'nothing': 8 of 8 failed" in shown.output
    assert "Programs were not tried: first the transport must keep its rules." in shown.output


def test_a_backend_that_does_not_exist(call) -> None:
    shown = call("conformance", "nccl")
    assert shown.exit_code == 2
    assert "there is no backend named 'nccl'" in shown.output
