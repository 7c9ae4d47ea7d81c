"""``simdist speedup``: is it worth more accelerators? The same function on more and more of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

import simdist as sd
from simdist.cli.failure import UsageError, taught
from simdist.cli.output import print_json, quiet_stdout
from simdist.cli.picture import check, save
from simdist.cli.program import algorithms, arguments, given, load

__all__ = ["speedup"]


@taught
def speedup(
    program: Annotated[str, typer.Argument(metavar="FILE:FUNCTION", help="A Python file and a function in it.")],
    world_sizes: Annotated[str, typer.Option(metavar="N,N,...", help="The numbers of ranks to try.")] = "1,2,4,8",
    cluster: Annotated[
        str | None, typer.Option(help="A name from `simdist clusters` (it grows by whole nodes), or a .toml file.")
    ] = None,
    weak: Annotated[
        bool, typer.Option("--weak", help="The work per rank stays the same; else the whole work does.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Where all random numbers come from.")] = 0,
    device: Annotated[str, typer.Option(help="`real`: numbers. `meta`: shapes and times only, much faster.")] = "real",
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
    plot: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw the curve with the ideal line.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Run FUNCTION(rank, world_size) on several numbers of simulated accelerators and compare the times.

    Speed-up is the time on the first number divided by the time on N; efficiency is speed-up per accelerator; the serial
    fraction is Amdahl's law fitted to the times: the part that more accelerators do not make faster.

    **Example:** `simdist speedup train.py:train --world-sizes 1,2,4,8,16 --cluster dgx-a100 --plot speedup.png`
    """
    sizes = _sizes(world_sizes)
    check(plot)
    options = given(cluster=cluster, network=network, algorithms=algorithms(algorithm))
    with quiet_stdout(as_json):
        function = load(program)
        kwargs = arguments(function, arg or ())
        scaling = sd.speedup(
            function,
            world_sizes=sizes,
            mode="weak" if weak else "strong",
            seed=seed,
            device=device,
            kwargs=kwargs,
            **options,
        )
    written = {"plot": save(scaling.plot(), plot)} if plot is not None else {}
    if as_json:
        print_json(_facts(scaling) | written)
        return
    typer.echo(str(scaling))
    for what, path in written.items():
        typer.echo(f"{what}: {path}")


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"--world-sizes {text!r} is not a list of numbers: for example 1,2,4,8.") from None
    if not sizes or min(sizes) < 1:
        raise UsageError(f"--world-sizes {text!r} holds a number below 1: a run has at least one rank.")
    if any(a >= b for a, b in pairwise(sizes)):
        raise UsageError(f"--world-sizes {text!r} has to rise: for example 1,2,4,8.")
    return sizes


def _facts(scaling: Any) -> dict[str, Any]:
    names = ("world_sizes", "times", "mode", "speedup", "efficiency", "serial_fraction")
    return {name: getattr(scaling, name) for name in names}
