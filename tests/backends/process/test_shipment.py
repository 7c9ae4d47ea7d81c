from __future__ import annotations

import importlib.util
import linecache
import pickle
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

from simdist.backends.process.shipment import culprit, named_code, pack, ship
from simdist.errors import DistBackendError

LOCK = threading.Lock()


class Holder:
    def __init__(self) -> None:
        self.plain = 1
        self.deep = {"a": [1, LOCK]}


def test_lambdas_and_nested_functions_travel() -> None:
    offset = 5

    def nested(x: int) -> int:
        return x + offset

    for fn in (nested, lambda x: x + offset):
        other, args, options = pickle.loads(ship(fn, (1,), {"o": 2}))
        assert other(*args) == 6
        assert options == {"o": 2}


def test_what_a_worker_can_import_travels_by_name() -> None:
    data = ship(traceback.format_exc, (), None)
    assert b"traceback" in data
    assert len(data) < 100


def test_a_module_that_a_worker_cannot_import_travels_by_value(tmp_path: Path) -> None:
    file = tmp_path / "outside_the_path.py"
    file.write_text("FACTOR = 3\ndef triple(x):\n    return FACTOR * x\n")
    spec = importlib.util.spec_from_file_location("outside_the_path", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["outside_the_path"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        data = ship(module.triple, (), None)
        again = ship(module.triple, (), None)
    finally:
        del sys.modules["outside_the_path"]
    assert len(again) == len(data)
    fn, _, _ = pickle.loads(data)
    assert fn(4) == 12


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: (lambda: LOCK, ()), r"the captured 'LOCK' is a _thread\.lock, which cannot leave this process"),
        (lambda: (lambda lock=LOCK: lock, ()), r"the captured 'default 0' is a _thread\.lock"),
        (lambda: (print, (1, LOCK)), r"argument 1 \(after rank and world_size\) is a _thread\.lock"),
        (lambda: (print, ({"k": [0, (x for x in ())]},)), r"argument 0 \(.*\)\['k'\]\[1\] is a generator"),
        (lambda: (print, (Holder(),)), r"argument 0 \(.*\)\.deep\['a'\]\[1\] is a _thread\.lock"),
    ],
)
def test_what_cannot_travel_is_named(make: Any, text: str) -> None:
    fn, args = make()
    with pytest.raises(DistBackendError, match=text) as caught:
        ship(fn, args, None)
    message = str(caught.value)
    assert message.startswith(f"cannot send {fn.__qualname__} to another process: ")
    assert "Create the object inside the function" in message
    assert 'backend="sim" runs in this process' in message
    assert caught.value.__cause__ is not None


def test_a_captured_variable_is_named() -> None:
    handle = threading.Lock()

    def helper() -> object:
        return handle

    def train() -> object:
        return helper()

    assert culprit(train, ()) == (
        "the captured 'helper' -> 'handle' is a _thread.lock, which cannot leave this process"
    )


def test_a_bound_method_and_the_options_are_looked_at() -> None:
    class Trainer:
        lock = None

        def run(self) -> None:
            return None

    trainer = Trainer()
    trainer.lock = threading.Lock()  # type: ignore[assignment]
    assert "the captured 'self'.lock is a _thread.lock" in culprit(trainer.run, ())
    assert culprit(print, (), {"cluster": LOCK}) == (
        "the options['cluster'] is a _thread.lock, which cannot leave this process"
    )
    assert culprit(print, ()) == "it cannot be pickled"


def test_a_function_keeps_the_name_of_its_file() -> None:
    fn = pickle.loads(pack(lambda: 1 / 0))
    assert fn.__code__.co_filename == __file__
    with pytest.raises(ZeroDivisionError) as caught:
        fn()
    assert "pack(lambda: 1 / 0)" in "".join(traceback.format_exception(caught.value))


def test_the_lines_of_a_notebook_cell_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["def cell():\n", "    return 1 / 0  # the line\n"]
    name = "/no/such/ipykernel_1/2.py"
    monkeypatch.setitem(linecache.cache, name, (0, None, lines, name))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("".join(lines), name, "exec"), namespace)
    data = pack(namespace["cell"])
    program = (
        "import sys, pickle, traceback\n"
        "try: pickle.loads(sys.stdin.buffer.read())()\n"
        "except ZeroDivisionError: print(traceback.format_exc())\n"
    )
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{program}"]
    shown = subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
    assert 'ipykernel_1/2.py", line 2, in cell' in shown
    assert "return 1 / 0  # the line" in shown


def test_code_without_lines_leaves_the_cache_alone() -> None:
    code = (lambda: 1).__code__
    other = named_code("<nowhere>", [], lambda: code, ())
    assert other.co_filename == "<nowhere>"
    assert "<nowhere>" not in linecache.cache
