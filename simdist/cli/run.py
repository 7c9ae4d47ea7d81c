"""``simdist run``: call a function on every rank and show what happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import simdist as sd
from simdist.backends.registry import BACKENDS, find
from simdist.cli.failure import UsageError, one_voice, taught
from simdist.cli.output import jsonable, print_json, print_table, quiet_stdout
from simdist.cli.picture import check, check_directory, save
from simdist.cli.program import algorithms, arguments, given, load
from simdist.units import format_time

__all__ = ["run"]

_RANKS = 4  # where nobody has started any


@taught
def run(
    program: Annotated[str, typer.Argument(metavar="FILE:FUNCTION", help="A Python file and a function in it.")],
    world_size: Annotated[
        int | None,
        typer.Option(
            "--world-size", "-n", min=1, help="How many ranks. Default: 4; under mpiexec as many as it started."
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="A name from `simdist clusters`, or a .toml file. Default: localhost.")
    ] = None,
    backend: Annotated[
        str, typer.Option(help="`sim`: simulated ranks. `process`: real local processes. `mpi`: those of mpiexec.")
    ] = "sim",
    seed: Annotated[int, typer.Option(help="Where all random numbers come from.")] = 0,
    device: Annotated[str, typer.Option(help="`real`: numbers. `meta`: shapes and times only.")] = "real",
    arg: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An argument of FUNCTION; repeat it.")
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=NAME",
            help="all_reduce=star_all_reduce: another algorithm; repeat it. `auto`: the fastest by estimate.",
        ),
    ] = None,
    network: Annotated[
        str | None, typer.Option(help="How closely the network is simulated: `messages`, `steps`, `formula` ...")
    ] = None,
    timeline: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw who did what when.")] = None,
    topology: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the machines and how busy each link was.")
    ] = None,
    trace: Annotated[Path | None, typer.Option(metavar="JSON", help="Save the trace for ui.perfetto.dev.")] = None,
    report: Annotated[bool, typer.Option("--report", help="Print where the time went.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Call FUNCTION(rank, world_size) on every rank of a simulated cluster, or of real processes.

    **Example**, for a file train.py that holds `def train(rank, world_size, steps=20)`:

    `simdist run train.py:train --world-size 8 --cluster dgx-a100 --arg steps=10 --report --timeline timeline.png`

    The same function for real, on this machine: `simdist run train.py:train -n 4 --backend process`

    Under MPI, on one machine or several: `mpiexec -n 4 simdist run train.py:train --backend mpi`
    """
    function = None if backend in BACKENDS else load(program)  # the file may register it
    first, processes = find(backend).place() or (0, _RANKS)
    world_size = world_size or processes
    with one_voice(first == 0):
        check(timeline)
        check(topology)
        if topology is not None and backend != "sim":
            raise UsageError(
                f"--topology draws simulated links, and --backend {backend} has none: leave one of them out."
            )
        check_directory(trace)
        with quiet_stdout(as_json):
            options = given(cluster=cluster, network=network, algorithms=algorithms(algorithm))
            outcome = _call(
                function or program,
                arg or (),
                world_size=world_size,
                backend=backend,
                seed=seed,
                device=device,
                **options,
            )
        if first == 0:
            _show(outcome, timeline, topology, trace, report, as_json)


def _call(program: str | Callable[..., Any], arg: list[str] | tuple[()], **options: Any) -> Any:
    function = load(program) if isinstance(program, str) else program
    return sd.run(function, kwargs=arguments(function, arg), **options)


def _show(
    outcome: Any, timeline: Path | None, topology: Path | None, trace: Path | None, report: bool, as_json: bool
) -> None:
    written = {}
    if timeline is not None:
        written["timeline"] = save(outcome.timeline(), timeline)
    if topology is not None:
        written["topology"] = save(sd.plot.topology(outcome.machines or outcome.cluster, outcome), topology)
    if trace is not None:
        outcome.save_trace(trace)
        written["trace"] = str(trace)
    if as_json:
        print_json(_summary(outcome, report) | written)
        return
    clock = "simulated" if outcome.backend == "sim" else "measured"
    rows = [
        (rank, format_time(seconds), _short(result))
        for rank, (seconds, result) in enumerate(zip(outcome.rank_times, outcome.results, strict=True))
    ]
    print_table(("rank", f"time ({clock})", "result"), rows)
    typer.echo(f"{outcome.world_size} ranks, backend {outcome.backend}: {format_time(outcome.time)} ({clock})")
    if report:
        typer.echo(f"\n{outcome.report()}")
    for what, path in written.items():
        typer.echo(f"{what}: {path}")


def _summary(outcome: Any, report: bool) -> dict[str, Any]:
    facts = {
        "world_size": outcome.world_size,
        "backend": outcome.backend,
        "time": outcome.time,
        "rank_times": list(outcome.rank_times),
        "results": list(outcome.results),
    }
    return facts | ({"report": str(outcome.report())} if report else {})


def _short(result: Any, width: int = 60) -> str:
    text = str(jsonable(result)) if result is not None else "None"
    return text if len(text) <= width else text[: width - 3] + "..."
