"""Which backends are there?

A row per backend: its name, what it is, and where its ``launch`` function is. The function is imported when it is
first used, so that a simulation never loads what real processes need. ``register_backend`` adds a row for a transport of
one's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from simdist.errors import UnknownNameError

from .settings import Outcome

if TYPE_CHECKING:
    from .custom.byte_transport import Factory

__all__ = ["BACKENDS", "Backend", "find", "register_backend", "unregister_backend"]


@dataclass(frozen=True)
class Backend:
    """How to find a backend.

    Attributes:
        name: what a person types.
        what: one sentence about it.
        target: ``"module:function"`` of its launch function.
        station: ``"module:function"`` that gives (rank, number of processes) of this process, where the processes of a run were
            there before it; empty where the backend makes its ranks itself.
        factory: what makes the transports, where somebody else has written them.
    """

    name: str
    what: str
    target: str
    station: str = ""
    factory: Factory | None = None

    def load(self) -> Callable[..., Outcome]:
        """Import and return the launch function."""
        found = cast("Callable[..., Outcome]", _named(self.target))
        return found if self.factory is None else partial(found, self.name, self.factory)

    def place(self) -> tuple[int, int] | None:
        """(rank, number of processes) of this process, or None if the backend makes its ranks itself."""
        return cast("tuple[int, int]", _named(self.station)()) if self.station else None


def _named(path: str) -> Any:
    module, _, function = path.partition(":")
    return getattr(import_module(module, __package__), function)


BACKENDS: dict[str, Backend] = {
    row.name: row
    for row in (
        Backend("sim", "all ranks in this process under a simulated clock", ".sim:launch"),
        Backend("process", "one local process per rank, for real", ".process_world:launch"),
        Backend(
            "mpi", "one MPI process per rank, on one machine or several", ".mpi.launcher:launch", ".mpi.library:station"
        ),
    )
}

_OURS = tuple(BACKENDS)


def register_backend(name: str, factory: Factory) -> None:
    """From now on ``sd.run(..., backend=name)`` runs over your own transport; the ranks are threads of this process.

    Args:
        name: what a person types; a name that was registered before gets the new factory.
        factory: (number of ranks) -> a list with the transport of each rank, made anew for each run. What a transport must do:
            ``backends.custom.byte_transport``. ``simdist.conformance.check(name)`` says whether it does.

    Raises:
        ValueError: the name is one of simdist's own, or not a name.
        TypeError: ``factory`` cannot be called.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"the name of a backend is a word such as 'mine', got {name!r}.")
    if name in _OURS:
        raise ValueError(f"{name!r} is one of simdist's own backends; give another name.")
    if not callable(factory):
        raise TypeError(
            f"the factory of backend {name!r} must be a function of the number of ranks that returns a list with the transport "
            f"of each, got {factory!r}."
        )
    what = "one thread per rank, over a transport of your own"
    BACKENDS[name] = Backend(name, what, ".custom.launcher:launch", factory=factory)


def unregister_backend(name: str) -> None:
    """Take a registered backend out of the table again.

    Raises:
        UnknownNameError: nobody registered it.
    """
    if name in _OURS or name not in BACKENDS:
        raise UnknownNameError("registered backend", name, [known for known in BACKENDS if known not in _OURS])
    del BACKENDS[name]


def find(name: str) -> Backend:
    """The backend ``name``.

    Raises:
        UnknownNameError: there is no such backend.
    """
    if name not in BACKENDS:
        raise UnknownNameError("backend", name, BACKENDS)
    return BACKENDS[name]
