"""How is a backend of one's own named in torch's words?"""

from __future__ import annotations

from collections.abc import Sequence

from simdist.backends.custom.byte_transport import Factory
from simdist.backends.registry import BACKENDS, find, register_backend
from simdist.errors import GroupError, nearest

__all__ = ["Backend", "check_backend"]

_TORCH_S = ("fake", "gloo", "mpi", "nccl", "ucc", "undefined", "xccl")
_DEVICES = ("cpu", "cuda", "mps", "xpu")


def check_backend(name: str | None, what: str) -> None:
    """Refuse a name that means no backend: neither one of torch's nor one of simdist's (``sd.run`` has chosen which is used).

    Args:
        name: ``"gloo"``, ``"cpu:gloo,cuda:nccl"``, or None.
        what: the function that was called.

    Raises:
        GroupError: there is no such backend.
        TypeError: it is no text.
    """
    if name is None:
        return
    if not isinstance(name, str):
        raise TypeError(f"{what}: backend must be a name such as 'gloo', got {name!r}.")
    known = sorted({*_TORCH_S, *BACKENDS})
    for part in name.split(","):
        device, colon, last = part.rpartition(":")
        if (last.lower() not in known and last not in known) or (colon and device not in _DEVICES):
            close = nearest(last, known)
            hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise GroupError(f"{what}: there is no backend {name!r}.{hint} Known: {', '.join(known)}.")


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
