"""How does a drawing become a file? Axes know their figure; the ending of the name chooses the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simdist.cli.failure import UsageError

__all__ = ["check", "check_directory", "save"]


def check_directory(path: Path | None) -> None:
    """Refuse a file that cannot be written, before anything long begins.

    Args:
        path: the file, or None.

    Raises:
        UsageError: the directory is not there, or the path is one.
    """
    if path is None:
        return
    if not path.parent.is_dir():
        raise UsageError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into.")
    if path.is_dir():
        raise UsageError(f"{str(path)!r} is a directory: name a file in it.")


def check(path: Path | None) -> None:
    """Refuse a picture that cannot be written, before anything long begins.

    Args:
        path: the picture's file, or None.

    Raises:
        UsageError: as ``check_directory``, or the ending names no picture format.
    """
    check_directory(path)
    if path is None:
        return
    from simdist.plot.formats import endings

    known = endings()
    if path.suffix.lstrip(".").lower() not in known:
        raise UsageError(f"{path.name!r} does not end like a picture. Known endings: {', '.join(known)}.")


def save(axes: Any, path: Path) -> str:
    """Write the figure that ``axes`` belong to (matplotlib axes, or anything that has a ``figure``).

    Args:
        axes: what a plot method returned; of several axes the first one's figure is taken.
        path: where to; its ending (.png, .svg, .pdf) chooses the format.

    Returns:
        The path as text.

    Raises:
        UsageError: the directory is not there, or the ending names no picture format.
    """
    check(path)
    first = axes
    while not hasattr(first, "savefig") and not hasattr(first, "figure"):
        first = first.flat[0] if hasattr(first, "flat") else next(iter(first))
    figure = first if hasattr(first, "savefig") else first.figure
    figure.savefig(path, dpi=150, bbox_inches="tight")
    return str(path)
