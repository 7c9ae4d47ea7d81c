"""Which commands are there? A table, and the options that belong to no command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from simdist.cli import clusters, conformance, demo, league, learn, run, speedup, trace, validate

__all__ = ["build"]

COMMANDS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("demo", demo.demo),
    ("run", run.run),
    ("speedup", speedup.speedup),
    ("trace", trace.trace),
    ("clusters", clusters.clusters),
    ("league", league.league),
    ("conformance", conformance.conformance),
)
"""Name on the command line and the function that does it; ``learn`` and ``validate`` have commands of their own."""

HELP = """Run distributed training without a cluster, and understand it.

One function `train(rank, world_size)`, written with torch.distributed's words, runs on simulated accelerators or on real
processes of this machine, without an edit.

Begin with `simdist demo`, then `simdist run my_file.py:train --world-size 8 --cluster dgx-a100 --report`."""


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"simdist {version('simdist')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """The options before the command."""


def build() -> typer.Typer:
    """A new typer application (none is kept: tests and documentation build their own)."""
    application = typer.Typer(
        name="simdist",
        help=HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    application.callback()(_options)
    for name, function in COMMANDS:
        application.command(name)(function)
    application.add_typer(learn.build(), name="learn")
    application.add_typer(validate.build(), name="validate")
    return application
