"""What can a person do without writing a program around it? The ``simdist`` command.

One file per command (``demo``, ``run``, ``speedup``, ``trace``, ``clusters``, ``league``, ``learn``, ``validate``);
``program`` finds the function that ``FILE:FUNCTION`` names, ``output`` prints tables and JSON, ``failure`` turns exceptions into
texts and exit codes. This is the only package that prints by itself; everything else returns values.

Exit codes: 0 all is well; 1 the program failed (or a check found something); 2 the command was used wrongly: an unknown name,
a file that is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

__all__ = ["app", "main"]


def app() -> typer.Typer:
    """The command line as a typer application, one command per file of this package."""
    from simdist.cli.application import build

    return build()


def main() -> None:
    """The entry point of the installed ``simdist`` command."""
    app()()
