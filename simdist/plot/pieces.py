"""Which areas does a row of the timeline consist of?

A run has many more spans than a picture has pixels. ``pieces`` turns the spans of one stream into areas to draw:

* the *launch* of a primitive is shown pale in the colour of what it launches, so that the passes stay visible even where the
  accelerator mostly waits for its next command;
* neighbours that look alike become one area (communication keeps its borders: each is one collective);
* spans narrower than ``quantum`` seconds are gathered until they are that wide together, and the area shows what took most of
  the time. So the number of areas is bounded by the width of the picture, and a share of time is never misrepresented by more
  than a pixel.

``runs`` then joins the areas of one pass, for the letter in their middle. Pure functions on rows: no matplotlib here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

__all__ = ["Piece", "pieces", "runs"]

_SEPARATE = ("communication", "wait")
"""Kinds of which each span is a thing of its own (one collective, one reason to wait)."""

_LAUNCHED = ("forward", "backward", "optimizer", "compute")


class Piece(NamedTuple):
    """One area.

    Attributes:
        kind: of span.
        pale: it is the launch of this kind.
        start: seconds.
        end: seconds.
        name: of the collective ("" where several things were joined).
        details: of the span, if it is a single one.
    """

    kind: str
    pale: bool
    start: float
    end: float
    name: str = ""
    details: dict[str, Any] | None = None


def pieces(rows: Sequence[tuple[Any, ...]], start: float, end: float, quantum: float) -> list[Piece]:
    """The areas of one stream between ``start`` and ``end``.

    Args:
        rows: rows of ``trace.span.Span`` of one stream, in order of time, without overlap.
        start: the left edge of the picture, seconds.
        end: its right edge.
        quantum: the smallest width, seconds.
    """
    found: list[Piece] = []
    narrow: list[Piece] = []
    for piece in _visible(rows, start, end):
        if narrow and (piece.start - narrow[-1].end > quantum or narrow[-1].end - narrow[0].start >= quantum):
            _gather(found, narrow, quantum)
            narrow = []
        if piece.end - piece.start < quantum:
            narrow.append(piece)
            continue
        if narrow:
            _gather(found, narrow, quantum)
            narrow = []
        _add(found, piece)
    if narrow:
        _gather(found, narrow, quantum)
    return found


def _visible(rows: Sequence[tuple[Any, ...]], start: float, end: float) -> Iterable[Piece]:
    last = len(rows) - 1
    for index, (_, _, kind, name, begin, stop, details) in enumerate(rows):
        if stop <= start or begin >= end:
            continue
        pale = kind == "launch" and index < last and rows[index + 1][2] in _LAUNCHED
        shown = rows[index + 1][2] if pale else kind
        yield Piece(shown, pale, max(begin, start), min(stop, end), name, details)


def _gather(found: list[Piece], narrow: list[Piece], quantum: float) -> None:
    """Narrow spans become one area; what is still too narrow to be seen joins the area of the same pass before it."""
    piece = _majority(narrow)
    last = found[-1] if found else None
    if last is not None and last.kind == piece.kind and piece.kind in _LAUNCHED and piece.start <= last.end:
        pale = last.pale if piece.end - piece.start < quantum else piece.pale
        piece = piece._replace(pale=pale)
    _add(found, piece)


def _majority(narrow: list[Piece]) -> Piece:
    """One area for several narrow ones: it looks like what took most of their time (the first of equals)."""
    if len(narrow) == 1:
        return narrow[0]
    shares: dict[tuple[str, bool], float] = {}
    for piece in narrow:
        shares[piece.kind, piece.pale] = shares.get((piece.kind, piece.pale), 0.0) + piece.end - piece.start
    kind, pale = max(shares, key=shares.__getitem__)
    return Piece(kind, pale, narrow[0].start, narrow[-1].end)


def _add(found: list[Piece], piece: Piece) -> None:
    """Append ``piece``, or let it grow the last one if they look alike and touch."""
    if found and found[-1].kind == piece.kind and found[-1].pale == piece.pale and piece.start <= found[-1].end:
        single = piece.name and found[-1].name
        if piece.kind not in _SEPARATE or not single:
            found[-1] = Piece(piece.kind, piece.pale, found[-1].start, piece.end)
            return
    found.append(piece)


def runs(areas: Sequence[Piece]) -> list[Piece]:
    """Join neighbours of one kind: the whole forward pass is one run, pale if most of it is launches.

    Communication and waits stay apart.
    """
    joined: list[list[Piece]] = []
    for piece in areas:
        last = joined[-1][-1] if joined else None
        if last is not None and last.kind == piece.kind and piece.kind not in _SEPARATE and piece.start <= last.end:
            joined[-1].append(piece)
        else:
            joined.append([piece])
    return [parts[0] if len(parts) == 1 else _whole(parts) for parts in joined]


def _whole(parts: list[Piece]) -> Piece:
    pale = sum(part.end - part.start if part.pale else part.start - part.end for part in parts) > 0
    return Piece(parts[0].kind, pale, parts[0].start, parts[-1].end)
