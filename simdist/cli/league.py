"""``simdist league``: which algorithm is the best for a collective, on which machines, at which size?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import simdist as sd
from simdist.cli.failure import UsageError, taught
from simdist.cli.output import print_json, print_table
from simdist.cli.picture import check, save
from simdist.cluster.quantity import parse
from simdist.errors import ClusterError
from simdist.units import format_bytes, format_time

__all__ = ["league"]


@taught
def league(
    collective: Annotated[str, typer.Argument(help="`all_reduce`, `broadcast`, `all_to_all` ...")],
    size: Annotated[str, typer.Option(metavar="BYTES", help="The whole buffer: 4096, 1MB, 16MiB.")] = "1MiB",
    world_size: Annotated[int, typer.Option("--world-size", "-n", min=1, help="How many ranks.")] = 8,
    cluster: Annotated[str, typer.Option(help="A name from `simdist clusters`, or a .toml file.")] = "dgx-a100",
    curves: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the times over the size, 1 KiB to 1 GiB.")
    ] = None,
    steps: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw what is where, round by round, for the fastest one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Compare all algorithms of a collective: time, messages, bytes on the busiest link, distance from the lower bound.

    **Example:** `simdist league all_reduce --size 1MiB --world-size 8 --cluster dgx-a100 --curves curves.png`
    """
    nbytes = _bytes(size)
    check(curves)
    check(steps)
    table = sd.collectives.league(collective, cluster=cluster, world_size=world_size, nbytes=nbytes)
    written = {}
    if curves is not None:
        written["curves"] = save(sd.plot.algorithms(collective, cluster, world_size), curves)
    if steps is not None:
        fastest = table.standings[0].algorithm
        written["steps"] = save(sd.plot.collective_steps(fastest, world_size=world_size), steps)
    if as_json:
        facts = {"collective": collective, "cluster": table.cluster, "world_size": world_size, "bytes": nbytes}
        rows = [standing._asdict() for standing in table.standings]
        print_json(facts | {"lower_bound": table.bound, "auto": table.auto, "algorithms": rows} | written)
        return
    typer.echo(table.title)
    print_table(
        ("algorithm", "time", "messages", "busiest link", "x bound"),
        [
            (s.algorithm, format_time(s.seconds), s.num_messages, format_bytes(s.busiest), f"{s.distance:.2f}")
            for s in table.standings
        ],
    )
    typer.echo(table.remark)
    for what, path in written.items():
        typer.echo(f"{what}: {path}")


def _bytes(text: str) -> int:
    try:
        number = parse(text, "bytes", "--size")
    except ClusterError as error:
        raise UsageError(str(error)) from None
    if number < 0 or number != int(number):
        raise UsageError(f"--size {text!r} is {number:g} bytes: give a whole number that is not negative.")
    return int(number)
