"""Which MPI is it, who is this process in it, and which communicators are ours?

Our messages travel on communicators of our own, so that they never meet those of a program that uses mpi4py itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from simdist.errors import DistBackendError

__all__ = ["Communicators", "communicators", "mpi", "station", "version"]


class Communicators(NamedTuple):
    """Copies of ``MPI.COMM_WORLD``.

    Attributes:
        control: starting and ending a run.
        frames: headers, and small messages with them.
        data: large payloads.
    """

    control: Any
    frames: Any
    data: Any


@cache
def mpi() -> Any:
    """The module ``mpi4py.MPI``; MPI is initialised by importing it.

    Raises:
        DistBackendError: it is not installed, finds no MPI library, or the library does not allow threads.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise DistBackendError(
            f"backend='mpi' needs mpi4py and an MPI library, and they cannot be loaded ({error}). "
            "Install both with: pip install 'simdist[mpi]'"
        ) from error
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise DistBackendError(
            f"this MPI ({version(MPI)}) was initialised without full support of threads, but asynchronous collectives run "
            "on threads. Do not set mpi4py.rc.threads or mpi4py.rc.thread_level, or use another MPI."
        )
    return MPI


def version(module: Any | None = None) -> str:
    """The MPI library in one line: ``MPICH Version: 5.0.2``."""
    text = str((module or mpi()).Get_library_version())
    return " ".join(text.split("\n")[0].rstrip("\x00").split())


def station() -> tuple[int, int]:
    """This process's rank in ``MPI.COMM_WORLD``, and how many there are."""
    world = mpi().COMM_WORLD
    return world.rank, world.size


@cache
def communicators() -> Communicators:
    """Our communicators, made at the first call. Every rank of ``MPI.COMM_WORLD`` has to call it."""
    made = [mpi().COMM_WORLD.Dup() for _ in Communicators._fields]
    for each in made:
        each.Set_errhandler(mpi().ERRORS_RETURN)
    return Communicators(*made)
