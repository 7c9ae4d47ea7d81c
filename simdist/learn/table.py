"""How does the checker's table look?

Plain text of fixed width: it reads the same in a notebook, a terminal, a file and a log. Where the output cannot
show a character (a pipe with an old encoding), a plainer one stands in for it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from simdist.learn.criterion import Criterion

__all__ = ["PLAIN", "WIDTH", "printable", "table"]

WIDTH = 92
"""Columns that the lessons below the table are wrapped to."""

PLAIN: dict[str, str] = {
    "✔": "ok", "✘": "NO", "–": "-", "≤": "<=", "…": "..", "α": "alpha", "·": "|", "—": "-", "─": "-", "⌈": "ceil(", "⌉": ")",
}  # fmt: skip
"""Characters that not every encoding has, and what stands in for them."""

_HEADER = ("criterion", "yours", "limit", "")


def table(heading: str, criteria: Sequence[Criterion], notes: Sequence[str] = ()) -> str:
    """The table, the lessons of what is not met, the notes.

    Args:
        heading: the line above.
        criteria: its rows.
        notes: further sentences.
    """
    rows = [_HEADER, *((row.name, row.yours, row.limit, row.mark) for row in criteria)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    rule = "─" * (sum(widths) + 7)
    missed = [row for row in criteria if not row.passed]
    lessons = list(dict.fromkeys(row.lesson for row in missed if row.lesson))
    below = [f"✘ {_wrapped(lesson)}" for lesson in lessons] + [f"note: {_wrapped(note)}" for note in notes]
    reached = f"{len(criteria) - len(missed)} of {len(criteria)}"
    verdict = "passed" if not missed else f"not passed yet: {reached} criteria met"
    return "\n".join([heading, lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:]), rule, *below, verdict])


def _wrapped(text: str) -> str:
    """Long lines folded; the lines of a lesson that has several (a deadlock's list of ranks) stay apart."""
    folded = [
        textwrap.fill(line, WIDTH, subsequent_indent="    ", replace_whitespace=False, break_long_words=False)
        for line in text.splitlines()
    ]
    return "\n  ".join(folded)


def printable(text: str, encoding: str | None) -> str:
    """``text`` as far as ``encoding`` can show it.

    Args:
        text: any text.
        encoding: of the output; None if it takes any character.
    """
    if encoding is None:
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for fine, plain in PLAIN.items():
            text = text.replace(fine, plain)
        return text.encode(encoding, "replace").decode(encoding)
    return text
