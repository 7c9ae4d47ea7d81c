"""What PyTorch 2.13 did on gloo, and how an answer of ours is compared with it."""

import json
from pathlib import Path

import numpy as np
import pytest

RECORDED = json.loads((Path(__file__).parent / "data" / "collectives.json").read_text())
CLASSES = (
    "ValueError", "RuntimeError", "IndexError", "TypeError", "AttributeError", "AssertionError", "NotImplementedError",
)  # fmt: skip


def attempt(call):
    """The answer, or the built-in classes of its error."""
    try:
        return call()
    except Exception as error:
        mine = [kind.__name__ for kind in type(error).__mro__]
        return {"error": [name for name in CLASSES if name in mine], "text": str(error)}


def plain(value):
    """Arrays as lists, complex numbers as texts."""
    if isinstance(value, np.ndarray):
        return [str(x).replace("(", "").replace(")", "") for x in value] if value.dtype.kind == "c" else value.tolist()
    return [plain(x) for x in value] if isinstance(value, list | tuple) else value


def recorded(section, name, rank):
    """What torch's rank answered."""
    value = RECORDED[section][name]
    return value["all"] if "all" in value else value["per_rank"][rank]


def same(want, got, name):
    """An answer is torch's: the class of the error, or the value."""
    if isinstance(want, dict) and "error" in want:
        assert isinstance(got, dict), (name, got)
        assert want["error"] in got["error"], (name, got)
        return
    assert not (isinstance(got, dict) and "text" in got), (name, got)
    if isinstance(want, list) and want and isinstance(want[0], str) and "j" in want[0]:
        assert [complex(a) for a in np.ravel(got)] == pytest.approx(
            [complex(b.strip("[]()")) for b in want], rel=1e-6
        ), name
        return
    try:
        wanted = np.array(want, float)
    except (TypeError, ValueError):
        assert plain(got) == want, name
        return
    np.testing.assert_allclose(np.array(got, float), wanted, rtol=1e-6, err_msg=name)


def check(section, name, rank, got):
    """The same for an entry of a section."""
    same(recorded(section, name, rank), got, (name, rank))
