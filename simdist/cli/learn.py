"""``simdist learn``: exercises that check themselves, from the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from simdist.cli.failure import taught
from simdist.cli.output import print_json, print_table
from simdist.cli.program import load

__all__ = ["build"]


@taught
def exercises(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List the exercises.

    **Example:** `simdist learn list`
    """
    from simdist import learn

    rows = [(exercise.name, exercise.title) for exercise in learn.exercises()]
    if as_json:
        print_json([{"name": name, "title": title} for name, title in rows])
    else:
        print_table(("exercise", "what to write"), rows)


@taught
def check(
    name: Annotated[str, typer.Argument(help="The exercise: a name from `simdist learn list`.")],
    program: Annotated[str, typer.Argument(metavar="FILE:FUNCTION", help="Your solution.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")] = False,
) -> None:
    """Check a solution: one table of criterion, yours, limit, passed or not. Exit code 1 if one is not met.

    **Example:** `simdist learn check ring_all_reduce mine.py:all_reduce`
    """
    from simdist import learn

    result = learn.check(name, load(program), quiet=as_json)
    if as_json:
        print_json({"exercise": name, "passed": result.passed, "criteria": [str(row) for row in result.criteria]})
    if not result.passed:
        raise typer.Exit(1)


@taught
def show(
    name: Annotated[str, typer.Argument(help="The exercise: a name from `simdist learn list`.")],
    starter: Annotated[
        bool, typer.Option("--starter", help="Print the program to begin with, and nothing else.")
    ] = False,
) -> None:
    """Show an exercise: what to write, the limits, the program to begin with.

    **Example:** `simdist learn show ring_all_reduce --starter > mine.py`
    """
    from simdist.learn.catalogue import find

    exercise = find(name)
    if not starter:
        typer.echo(f"{exercise.statement.rstrip()}\n")
    typer.echo(exercise.starter, nl=False)


@taught
def hint(
    name: Annotated[str, typer.Argument(help="The exercise.")],
    level: Annotated[int, typer.Option(min=1, max=3, help="1 a question, 2 the idea, 3 nearly the solution.")] = 1,
) -> None:
    """Give a hint, in three levels.

    **Example:** `simdist learn hint ring_all_reduce --level 2`
    """
    from simdist import learn

    text = learn.hint(name, level)
    if text is not None:
        typer.echo(text)


def build() -> typer.Typer:
    """The commands under ``simdist learn``."""
    group = typer.Typer(help="Exercises that check themselves: list, show, check, hint.", no_args_is_help=True)
    group.command("list")(exercises)
    group.command("show")(show)
    group.command("check")(check)
    group.command("hint")(hint)
    return group
