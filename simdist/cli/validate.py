"""``simdist validate``: computed numbers beside measured ones."""

from __future__ import annotations

from typing import Annotated

import typer

from simdist.cli.failure import taught
from simdist.cli.output import print_json

__all__ = ["build"]


@taught
def nccl(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False) -> None:
    """All-reduces of NCCL, measured on A100 and V100: fitted on one half of the sizes, judged on the other.

    Then, without a bar: what a fit says about other numbers of ranks and why, and the presets as they are. Exit code 1 if a
    curve is off by more than 2 % in the mean.

    **Example:** `simdist validate nccl`
    """
    from simdist import validate

    found = validate.nccl()
    if as_json:
        tables = {name: [row._asdict() for row in getattr(found, name)] for name in ("fits", "carried", "presets")}
        for row in tables["fits"] + tables["carried"]:
            row |= row.pop("found")._asdict()
        print_json({"passed": found.passed} | tables)
    else:
        typer.echo(str(found))
    if not found.passed:
        raise typer.Exit(1)


def build() -> typer.Typer:
    """The commands under ``simdist validate``."""
    group = typer.Typer(help="Computed numbers beside measured ones.", no_args_is_help=True)
    group.command("nccl")(nccl)
    group.callback()(lambda: None)  # a group, although there is one command so far
    return group
