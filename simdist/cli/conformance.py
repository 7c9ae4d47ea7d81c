"""``simdist conformance``: does a backend do what the simulator does?"""

from __future__ import annotations

from typing import Annotated

import typer

from simdist import conformance as suite
from simdist.backends.registry import find, register_backend
from simdist.cli.failure import one_voice, taught
from simdist.cli.output import print_json, quiet_stdout
from simdist.cli.program import load

__all__ = ["conformance"]


@taught
def conformance(
    backend: Annotated[
        str, typer.Argument(metavar="BACKEND", help="`process`, `mpi`, `sim`, or FILE:FACTORY for one of your own.")
    ],
    world_size: Annotated[
        list[int] | None,
        typer.Option("--world-size", "-n", min=1, help="How many ranks; repeat it. Default: 1, 2 and 4."),
    ] = None,
    only: Annotated[str, typer.Option(metavar="PATTERN", help="Only what has such a name: `groups`, `^mistake`.")] = "",
    native: Annotated[
        bool, typer.Option("--native", help="MPI's own collectives, equal up to the order of additions.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the list.")] = False,
) -> None:
    """Run every kind of program on BACKEND and in simulation and compare the bytes. Exit code 1 if anything differs.

    **Example:** `simdist conformance process -n 2 --only groups`

    Under MPI: `mpiexec -n 4 simdist conformance mpi`. Your own transport: `simdist conformance own_backend.py:queues`
    """
    name = _registered(backend) if ":" in backend else backend
    first, _ = find(name).place() or (0, 0)
    with one_voice(first == 0):
        options = {"native_collectives": True} if native else {}
        with quiet_stdout(as_json):
            report = suite.check(name, world_sizes=world_size, only=only, **options)
        if first == 0 and as_json:
            findings = [{"name": f.name, "world_size": f.world_size, "wrong": f.text} for f in report.findings]
            facts = {"passed": report.passed, "fingerprint": report.fingerprint, "left": report.left}
            print_json({"backend": name} | facts | {"findings": findings})
        elif first == 0:
            typer.echo(str(report))
    if not report.passed:
        raise typer.Exit(1)


def _registered(program: str) -> str:
    """The name of a backend that is made by a factory in a file."""
    name = program.rpartition(":")[2]
    register_backend(name, load(program))
    return name
