"""Which function does ``FILE:FUNCTION`` name?

The file is loaded as a module under its own name, with its directory on the path as Python does it for a script, so that it
may import its neighbours; its ``if __name__ == "__main__"`` part does not run.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from simdist.cli.failure import UsageError
from simdist.comm import DEFAULT
from simdist.comm.choose import AUTO
from simdist.errors import nearest

__all__ = ["algorithms", "arguments", "given", "load"]


def load(spec: str) -> Callable[..., Any]:
    """The function that ``FILE:FUNCTION`` names.

    Args:
        spec: a Python file and the name of a function in it: ``"train.py:train"``.

    Raises:
        UsageError: the text has no function part, the file is not there, or it holds no such function.
        Exception: whatever loading the file raises, as it is: it is the person's own code.
    """
    name, colon, function = spec.rpartition(":")
    if not colon or not name or not function:
        raise UsageError(f"{spec!r} is not FILE:FUNCTION. Name a Python file and a function in it: train.py:train.")
    path = Path(name)
    if not path.is_file():
        near = (
            nearest(path.name, [file.name for file in sorted(path.parent.glob("*.py"))]) if path.parent.is_dir() else []
        )
        hint = f" Did you mean {path.parent / near[0]}?" if near else ""
        raise UsageError(f"there is no file {name!r}.{hint}")
    module = _module(path)
    found = getattr(module, function, None)
    if not callable(found):
        own = [key for key, value in vars(module).items() if inspect.isfunction(value) and not key.startswith("_")]
        near = nearest(function, own)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        listed = ", ".join(own) or "no function"
        raise UsageError(f"{name} has no function {function!r}. {hint}It holds: {listed}.")
    return found  # type: ignore[no-any-return]


def _module(path: Path) -> ModuleType:
    directory = str(path.parent.resolve())
    if directory not in sys.path:
        sys.path.insert(0, directory)
    name = path.stem
    taken = sys.modules.get(name)
    if taken is not None and Path(getattr(taken, "__file__", None) or "").resolve() != path.resolve():
        name = f"{name}_program"  # the file is called like a module that is loaded already: json.py, run.py
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{str(path)!r} is not a Python file: its name has to end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    if name != path.stem:  # a real process could not import it under this name: send it along
        import cloudpickle

        cloudpickle.register_pickle_by_value(module)
    return module


def arguments(function: Callable[..., Any], pairs: Sequence[str]) -> dict[str, Any]:
    """The keyword arguments for ``function`` that ``--arg key=value`` gives.

    Values are Python literals (``steps=20``, ``lr=1e-3``, ``sizes=[64,10]``); what is none is taken as text.

    Raises:
        UsageError: a pair without ``=``, or a key that is no parameter of the function.
    """
    parameters = inspect.signature(function).parameters
    free = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    known = list(parameters)[2:]
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"--arg {pair!r} is not key=value: for example --arg steps=20.")
        if key not in known and not free:
            near = nearest(key, known)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            takes = ", ".join(known) or "nothing besides rank and world_size"
            raise UsageError(
                f"{getattr(function, '__name__', 'it')} has no parameter {key!r}. {hint}It takes: {takes}."
            )
        values[key] = _literal(text)
    return values


def algorithms(words: Sequence[str] | None) -> dict[str, str]:
    """What ``--algorithm`` gives: ``auto``, ``collective=name``, or both (then what is named goes before ``auto``).

    Args:
        words: what was written.

    Raises:
        UsageError: neither of the two.
    """
    given = list(words or ())
    found = dict.fromkeys(DEFAULT, AUTO) if AUTO in given else {}
    for word in given:
        collective, equals, name = word.partition("=")
        if word != AUTO and not (equals and collective and name):
            raise UsageError(
                f"--algorithm {word!r} is neither auto nor collective=name: for example --algorithm "
                "all_reduce=star_all_reduce."
            )
        if word != AUTO:
            found[collective] = name
    return found


def given(**options: Any) -> dict[str, Any]:
    """The options that were given: those that are not empty."""
    return {name: value for name, value in options.items() if value}


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
