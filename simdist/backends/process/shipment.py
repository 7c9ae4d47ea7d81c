"""How does a function get into another process?

By value: cloudpickle takes the code and what it refers to, so a function typed into a notebook, a lambda and a nested
function work. What lives in a module that a worker can import travels as its name, so that its globals (a lock, a cache) are
each process's own. What cannot travel is found and named before any process starts.
"""

from __future__ import annotations

import io
import linecache
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from simdist.errors import DistBackendError

__all__ = ["culprit", "named_code", "pack", "ship"]

_DEPTH = 6
_REMEDY = (
    "Open files, locks, sockets and generators belong to one process. Create the object inside the function, or pass its "
    'name (a path, an address) instead of a handle; backend="sim" runs in this process.'
)


def ship(fn: Callable[..., Any], args: tuple[Any, ...], options: Any) -> bytes:
    """``(fn, args, options)`` as bytes.

    Raises:
        DistBackendError: something in it cannot be pickled; the text names the function, the object and the remedy.
    """
    name = getattr(fn, "__qualname__", None) or repr(fn)
    with _by_value(_home(fn)):
        try:
            return pack((fn, args, options))
        except Exception as error:
            where = culprit(fn, args, options)
            raise DistBackendError(
                f"cannot send {name} to another process: {where} ({type(error).__name__}: {error}). {_REMEDY}"
            ) from error


def pack(value: Any) -> bytes:
    """Any value as bytes, functions and classes of ``__main__`` by value.

    A function keeps the name of its file (cloudpickle drops it), so that a traceback from a rank names the user's line.
    """
    data = io.BytesIO()
    _pickler()(data, protocol=5).dump(value)
    return data.getvalue()


@cache
def _pickler() -> Any:
    import cloudpickle  # here: it is wanted only when processes start

    parent = cloudpickle.Pickler.dispatch_table

    def reduce_code(code: CodeType) -> tuple[Any, ...]:
        make, parts = parent[CodeType](code)[:2]
        # What was typed into a notebook is in no file that the worker could show: its lines travel too.
        lines = None if Path(code.co_filename).exists() else linecache.getlines(code.co_filename)
        return named_code, (code.co_filename, lines, make, parts)

    return type("Pickler", (cloudpickle.Pickler,), {"dispatch_table": ChainMap({CodeType: reduce_code}, parent)})


def named_code(
    filename: str, lines: list[str] | None, make: Callable[..., CodeType], parts: tuple[Any, ...]
) -> CodeType:
    """In a worker: a code object that knows its file again."""
    if lines:
        linecache.cache[filename] = (sum(map(len, lines)), None, lines, filename)
    return make(*parts).replace(co_filename=filename)


def _home(fn: Any) -> ModuleType | None:
    """The module of ``fn`` if a worker could not import it (it would then travel by name only)."""
    name = getattr(fn, "__module__", None) or getattr(type(fn), "__module__", None)
    module = sys.modules.get(name) if isinstance(name, str) else None
    if module is None or name == "__main__" or not hasattr(module, "__file__"):
        return None
    assert isinstance(name, str)
    path: Any = None
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        spec = _found(".".join(parts[:depth]), path)
        if spec is None:
            return module
        path = spec.submodule_search_locations
    return None if spec is not None and spec.origin == module.__file__ else module


def _found(name: str, path: Any) -> ModuleSpec | None:
    """How an import would find a module, loaded or not (a package installed for editing has a finder of its own)."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None


@contextmanager
def _by_value(module: ModuleType | None) -> Iterator[None]:
    if module is None:
        yield
        return
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def culprit(fn: Any, args: tuple[Any, ...], options: Any = None) -> str:
    """Describe the innermost thing that cannot be pickled, from the function's side: ``it uses `lock`, a lock``."""
    for start, value in _starts(fn, args, options):
        if not _packs(value):
            path, inner = _innermost(start, value, _DEPTH)
            return f"{path} is a {_kind(inner)}, which cannot leave this process"
    return "it cannot be pickled"


def _starts(fn: Any, args: tuple[Any, ...], options: Any) -> Iterator[tuple[str, Any]]:
    for index, value in enumerate(args):
        yield f"its argument {index} (after rank and world_size)", value
    yield from ((f"the captured {name!r}", value) for name, value in _captured(fn))
    yield "the options", options


def _captured(fn: Any) -> Iterator[tuple[str, Any]]:
    fn = getattr(fn, "__wrapped__", fn)
    if getattr(fn, "__self__", None) is not None and not isinstance(fn.__self__, ModuleType):
        yield "self", fn.__self__
    code = getattr(fn, "__code__", None)
    if code is None:
        yield from getattr(fn, "__dict__", {}).items()
        return
    for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not yet assigned
            continue
    for index, value in enumerate(fn.__defaults__ or ()):
        yield f"default {index}", value
    for name in code.co_names:
        if name in fn.__globals__:
            yield name, fn.__globals__[name]


def _packs(value: Any) -> bool:
    try:
        pack(value)
    except Exception:
        return False
    return True


def _innermost(path: str, value: Any, depth: int) -> tuple[str, Any]:
    """Follow the first part that cannot be pickled, as deep as it goes."""
    if depth:
        for name, part in _parts(value):
            if not _packs(part):
                return _innermost(f"{path}{name}", part, depth - 1)
    return path, value


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", part) for index, part in enumerate(value))
    elif isinstance(value, FunctionType):
        yield from ((f" -> {name!r}", part) for name, part in _captured(value))
    elif not isinstance(value, (type, ModuleType)):
        yield from ((f".{name}", part) for name, part in getattr(value, "__dict__", {}).items())


def _kind(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
