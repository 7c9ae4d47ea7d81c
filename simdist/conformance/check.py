"""Does a backend do what the simulator does?

Every program of the catalogue runs on the backend and in simulation; the results must be equal, byte for byte. Every mistake must
be refused, with the right class and the words that help. A transport of one's own is tried by itself first: what is wrong there
shows up in programs as something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from simdist.backends.registry import find
from simdist.errors import DistTimeoutError
from simdist.launch import run

from .comparison import difference, fingerprint
from .programs.catalogue import MISTAKES, PROGRAMS, Mistake, Program
from .report import Finding, Report
from .transport import check_transport

__all__ = ["WORLD_SIZES", "check"]

WORLD_SIZES = (1, 2, 4)
"""With how many ranks programs are tried, where nobody says otherwise."""

_ENOUGH = 3  # programs that hang until the suite gives up


class _HangsError(Exception):
    """Too many programs did not come to an end.

    Attributes:
        last: what is told of the last of them.
    """

    def __init__(self, last: Finding) -> None:
        self.last = last


def check(
    backend: str,
    *,
    world_sizes: Sequence[int] | None = None,
    only: str = "",
    timeout: float = 20.0,
    **options: Any,
) -> Report:
    """Try a backend.

    Args:
        backend: ``"process"``, ``"mpi"`` (then every process that ``mpiexec`` started calls this), or one of your own.
        world_sizes: numbers of ranks; None: ``WORLD_SIZES``, under MPI as many as there are processes.
        only: a pattern (of ``re.search``): of programs and mistakes, only those whose name it fits.
        timeout: limit of any one wait of a program, in seconds: a program that hangs is ended by it.
        options: further arguments of ``sd.run`` for the backend. With ``native_collectives=True`` floating point numbers are
            compared up to the order of additions, and mistakes, which MPI itself does not refuse, are left out.

    Raises:
        UnknownNameError: there is no such backend.
        DistBackendError: it cannot run at all, for example because there is no MPI.
    """
    row = find(backend)
    place = row.place()
    sizes = tuple(world_sizes) if world_sizes is not None else WORLD_SIZES if place is None else (place[1],)
    what = f"backend {backend!r}" + "".join(f", {name}={value!r}" for name, value in options.items())
    findings: list[Finding] = []
    if row.factory is not None:
        findings += check_transport(row.factory, what=what).findings
        if not all(finding.passed for finding in findings):
            return Report(
                what, tuple(findings), left="Programs were not tried: first the transport must keep its rules."
            )
    suite = _Suite(backend, timeout, options)
    left = ""
    try:
        findings.extend(suite.findings(sizes, only))
    except _HangsError as hangs:
        findings.append(hangs.last)
        left = f"The rest was not tried: {_ENOUGH} programs did not come to an end."
    return Report(what, tuple(findings), suite.fingerprint, left)


class _Suite:
    """All programs on one backend.

    Attributes:
        results: what each program gave, by name and number of ranks.
    """

    def __init__(self, backend: str, timeout: float, options: dict[str, Any]) -> None:
        self._backend, self._timeout, self._options = backend, timeout, options
        self._exact = not options.get("native_collectives", False)
        self.results: dict[str, Any] = {}
        self._hung = 0

    @property
    def fingerprint(self) -> str:
        """Of all results."""
        return fingerprint(self.results)

    def findings(self, sizes: Sequence[int], only: str) -> Iterator[Finding]:
        """One after the other."""
        mistakes = MISTAKES if self._exact else ()
        for size in sizes:
            for program in PROGRAMS:
                if size >= program.least and re.search(only, program.name):
                    yield Finding(program.name, size, self._wrong(program, size))
            for mistake in mistakes:
                if size >= mistake.least and re.search(only, mistake.name):
                    yield Finding(mistake.name, size, self._let_through(mistake, size))

    def _wrong(self, program: Program, size: int) -> str:
        expected = run(program.fn, world_size=size, **program.options).results
        given: dict[str, Any] = {"timeout": self._timeout, **program.options, **self._options}
        try:
            found = run(program.fn, world_size=size, backend=self._backend, **given).results
        except Exception as error:
            text = _told(error)
            self._hung += isinstance(error, DistTimeoutError)
            if self._hung == _ENOUGH:
                raise _HangsError(Finding(program.name, size, text)) from error
            return text
        self.results[f"{program.name}, {size} ranks"] = found
        pairs = enumerate(zip(found, expected, strict=True))
        texts = [difference(a, b, self._exact, f"result of rank {rank}") for rank, (a, b) in pairs]
        return "; ".join(text for text in texts if text is not None)

    def _let_through(self, mistake: Mistake, size: int) -> str:
        given: dict[str, Any] = {"timeout": self._timeout, **mistake.options, **self._options}
        try:
            run(mistake.fn, world_size=size, backend=self._backend, **given)
        except Exception as error:
            names = " or ".join(kind.__name__ for kind in mistake.raises)
            if not isinstance(error, mistake.raises):
                return f"must raise {names}, raised {_told(error)}"
            text = "\n".join([str(error), *getattr(error, "__notes__", ())])
            lacking = [pattern for pattern in mistake.says if not re.search(pattern, text, re.DOTALL)]
            return f"the error does not say {' and '.join(lacking)}: {text}" if lacking else ""
        return f"must raise {' or '.join(kind.__name__ for kind in mistake.raises)}, but nothing was raised"


def _told(error: BaseException) -> str:
    return "\n        ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
