"""As which kinds of file can a picture be written?"""

from __future__ import annotations

from matplotlib.backend_bases import FigureCanvasBase

__all__ = ["endings"]


def endings() -> list[str]:
    """The endings of file names that matplotlib can write, without the dot, in alphabetical order."""
    return sorted(FigureCanvasBase.get_supported_filetypes())
