"""How is a backend of one's own named in torch's words?"""

from __future__ import annotations

from collections.abc import Sequence

from simdist.backends.custom.byte_transport import Factory
from simdist.backends.registry import BACKENDS, find, register_backend

__all__ = ["Backend"]


class Backend(str):
    """The name of a backend; as text it is that name.

    Args:
        name: ``"sim"``, ``"process"``, ``"mpi"``, or one that was registered; upper case counts as lower, as in torch.

    Raises:
        UnknownNameError: there is no such backend.
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Backend:
        """The backend ``name``."""
        return super().__new__(cls, find(name if name in BACKENDS else name.lower()).name)

    @staticmethod
    def register_backend(
        name: str, func: Factory, extended_api: bool = False, devices: str | Sequence[str] | None = None
    ) -> None:
        """The same as ``sd.register_backend``.

        Args:
            name: what a person types as ``sd.run(..., backend=name)``.
            func: (number of ranks) -> a list with the transport of each rank. (torch's is called on each rank, and makes a
                process group with all collectives; here a transport is enough.)
            extended_api: has to be False: there is one form of ``func``.
            devices: accepted for torch's sake.

        Raises:
            ValueError: a name that cannot be registered; ``extended_api=True``.
            TypeError: ``func`` cannot be called.
        """
        if extended_api:
            raise ValueError(
                "register_backend(extended_api=True): there is one form here, a function of the number of ranks that returns a "
                "list with the transport of each."
            )
        register_backend(name, func)
