"""How are results printed? Tables for a person at a terminal, plain columns for a pipe, JSON for a program."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import Any

import typer

__all__ = ["jsonable", "print_json", "print_table", "quiet_stdout"]

LONGEST_LIST = 100
"""Arrays with more elements than this appear in JSON as shape and dtype."""


def jsonable(value: Any) -> Any:
    """``value`` as something JSON can hold.

    Not-a-number becomes null, an array that is large or holds no numbers its shape, an unknown thing its repr.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or not hasattr(value, "tolist"):
        return repr(value)
    if math.prod(shape) > LONGEST_LIST or getattr(value, "is_meta", False):
        return {"shape": list(shape), "dtype": str(dtype)}
    return jsonable(value.tolist())


def quiet_stdout(as_json: bool) -> AbstractContextManager[object]:
    """While a program runs: with ``--json`` what it prints goes to standard error, so that standard output is one document."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def print_json(value: Any) -> None:
    """``value`` as indented JSON on standard output."""
    typer.echo(json.dumps(jsonable(value), indent=2, allow_nan=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
    """A table on standard output: drawn by rich on a terminal, aligned columns in a pipe (nothing is cut off there)."""
    cells = [[str(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns, title=title or None)
        for row in cells:
            table.add_row(*map(Text, row))
        Console().print(table)
        return
    widths = [max(len(line[index]) for line in [list(columns), *cells]) for index in range(len(columns))]
    for line in ([title] if title else []) + [_aligned(line, widths) for line in [list(columns), *cells]]:
        typer.echo(line)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
