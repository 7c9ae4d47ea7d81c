"""What is a worker told to do?

A `Job`: which rank it is, which entry function to call, and the user's function and arguments as one parcel of bytes; with
the surroundings the caller has at that moment, because a warm worker was started earlier and somewhere else.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from simdist import place
from simdist.backends.process.options import ProcessOptions

__all__ = ["ONE_THREAD", "Job", "Surroundings"]

ONE_THREAD: dict[str, str] = dict.fromkeys(
    (
        "BLIS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
"""One BLAS thread in each worker: else the number of threads decides how products are split, and so the last bits."""


class Surroundings(NamedTuple):
    """Where the caller stands: module search path, arguments, directory, environment, numbers of notebook cells."""

    path: list[str]
    argv: list[str]
    directory: str | None
    environment: dict[str, str]
    cells: dict[str, str]

    @classmethod
    def here(cls) -> Surroundings:
        """Those of this process now."""
        try:
            directory: str | None = str(Path.cwd())
        except OSError:  # it was deleted
            directory = None
        return cls(list(sys.path), list(sys.argv), directory, dict(os.environ), place.cells())

    def enter(self) -> None:
        """Make them those of this process."""
        place.name_cells(self.cells)
        sys.path[:] = self.path
        sys.argv[:] = self.argv
        if self.directory is not None and Path(self.directory).is_dir():
            os.chdir(self.directory)
        wanted = {**self.environment, **ONE_THREAD}
        for name in [name for name in os.environ if name not in wanted]:
            del os.environ[name]
        os.environ.update(wanted)


class Job(NamedTuple):
    """One rank's part of a run.

    Attributes:
        rank: the rank.
        world_size: number of ranks.
        entry: dotted path of the entry function, ``module:name``; it is called as
            ``entry(rank, world_size, endpoint, options, fn, args)`` and returns ``(result, payload)``.
        options: the options.
        parcel: pickled ``(fn, args, options)``.
        surroundings: where to do it.
    """

    rank: int
    world_size: int
    entry: str
    parcel: bytes
    surroundings: Surroundings

    def open(self) -> tuple[object, tuple[object, ...], ProcessOptions]:
        """The function, its arguments and the options."""
        import pickle

        fn, args, options = pickle.loads(self.parcel)
        return fn, args, options
