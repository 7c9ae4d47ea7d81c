"""How do we make sure that no rank reads another's memory?

On a cluster, ranks share nothing. In simulation they share an interpreter, so a program could pass data through a
variable of its module and be right without sending a byte. Two measures, one cheap, one sure:

* the learner's function is packed *by value*, with the module-level variables that it uses, even if its module can
  be imported; each simulated rank unpacks a copy of its own (``by_value``);
* a program that has passed everything else is run once more on two or three real processes, which share nothing at
  all, and must give the same bytes there.

It keeps honest people honest. It is no sandbox: the learner's code can do everything that Python can.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from simdist.backends.process.shipment import ship

__all__ = ["by_value"]


def by_value(fn: Callable[..., Any]) -> bytes:
    """``fn`` and everything of its module that it uses, as bytes; ``pickle.loads`` gives a copy that shares nothing.

    Raises:
        DistBackendError: something in it cannot be copied (an open file, a lock); the text names it and the remedy.
    """
    import cloudpickle

    module = _module(fn)
    if module is None:
        return ship(fn, (), {})
    cloudpickle.register_pickle_by_value(module)
    try:
        return ship(fn, (), {})
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def _module(fn: Any) -> ModuleType | None:
    """The learner's module, if it would otherwise be shared: one that can be imported and is nobody's library."""
    while isinstance(fn, partial):
        fn = fn.func
    name = getattr(fn, "__module__", None) or ""
    module = sys.modules.get(name)
    is_library = name.partition(".")[0] in sys.stdlib_module_names or (
        name.startswith("simdist.") and not name.startswith("simdist.learn.")
    )
    return None if module is None or is_library or _is_registered(name) else module


def _is_registered(name: str) -> bool:
    import cloudpickle

    return name in cloudpickle.list_registry_pickle_by_value()
