"""``simdist demo``: the whole idea in one minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simdist.cli.failure import taught
from simdist.cli.output import print_json

__all__ = ["demo"]


@taught
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the pictures and the trace go.")] = Path("demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the story.")] = False,
) -> None:
    """Train on a simulated DGX A100 and on real processes with one function; compare, and draw.

    **Example:** `simdist demo --out demo` writes demo/timeline.png, demo/speedup.png and demo/trace.json.
    """
    from simdist.demo import show

    outcome = show(out, say=(lambda text: None) if as_json else typer.echo)
    if as_json:
        print_json(outcome._asdict())
    if not outcome.identical:
        typer.echo("The simulated and the real weights differ: that is a bug in simdist, please report it.", err=True)
        raise typer.Exit(1)
