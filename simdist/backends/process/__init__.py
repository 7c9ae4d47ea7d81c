"""How does one function run on real processes of this machine?

| file | the one question it answers |
|---|---|
| `launcher` | how is one function run on every rank? |
| `options` | what can be asked of a run, and what comes back? |
| `shipment` | how does a function get into another process? |
| `pool`, `child` | where do workers come from? what does the caller hold of one? |
| `crew` | how does the caller see one run through? |
| `failure`, `claim` | why did a run fail, and what does the caller get? what do ranks that wait in vain say about each other? |
| `channel`, `job` | how do the caller and a worker talk, and about what? |
| `worker`, `stream` | what does a worker do all its life? where does its print go? |
| `mesh` | how do the ranks get connected? |
| `endpoint` | how does one rank send to and receive from the others? |
| `frame`, `link`, `wires`, `sink` | what is on the wire, how does it get through, how does one wait for it, where does it go? |
| `mailbox`, `work`, `mismatch` | which message belongs to which receive? what is one under way? what if they do not fit? |
| `ledger`, `accord` | which operations are under way? do the ranks of a group do the same thing together? |
| `progress`, `patience`, `place` | who moves the messages? what if a wait does not end? where in the program is it? |

Nothing is ever forked, no file or shared-memory segment is made, and nothing outlives the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simdist.backends.process.launcher import launch
    from simdist.backends.process.options import ProcessOptions, ProcessOutcome
    from simdist.backends.process.pool import close_pool

__all__ = ["ProcessOptions", "ProcessOutcome", "close_pool", "launch"]

_HOMES = {"ProcessOptions": "options", "ProcessOutcome": "options", "close_pool": "pool", "launch": "launcher"}


def __getattr__(name: str) -> Any:
    # A worker is on its way to its own modules when it passes here: what only the caller needs is loaded when asked for.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
