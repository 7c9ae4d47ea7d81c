"""How does a drawing become a file? Axes know their figure; the ending of the name chooses the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simdist.cli.failure import UsageError

__all__ = ["save"]


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
    if not path.parent.is_dir():
        raise UsageError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into.")
    first = axes
    while not hasattr(first, "savefig") and not hasattr(first, "figure"):
        first = first.flat[0] if hasattr(first, "flat") else next(iter(first))
    figure = first if hasattr(first, "savefig") else first.figure
    known = sorted(figure.canvas.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in known:
        raise UsageError(f"{path.name!r} does not end like a picture. Known endings: {', '.join(known)}.")
    figure.savefig(path, dpi=150, bbox_inches="tight")
    return str(path)
