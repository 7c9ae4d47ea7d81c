"""Which colour, hatch and letter does each kind have?

Okabe and Ito's eight colours (Color Universal Design, 2008, https://jfly.uni-koeln.de/color/) can be told apart with every
common kind of colour blindness. Colour is never the only sign: communication is hatched, pieces carry letters, and the
legend spells them out. The ink on a piece has a contrast of at least 4.5 to 1 (WCAG 2.1, criterion 1.4.3).
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "FAILURE",
    "GRID",
    "INK",
    "KINDS",
    "MEMORY",
    "MUTED",
    "OKABE_ITO",
    "Look",
    "contrast",
    "darker",
    "mixed",
    "paler",
]

OKABE_ITO: dict[str, str] = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky blue": "#56B4E9",
    "bluish green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "reddish purple": "#CC79A7",
}
"""The palette by the names its authors gave."""

INK, MUTED, GRID = "#222222", "#5F5F5F", "#DDDDDD"
"""Text, secondary text, and lines that help the eye."""

FAILURE = OKABE_ITO["vermillion"]
"""Limits and failures."""


class Look(NamedTuple):
    """How one kind is drawn.

    Attributes:
        color: of the area.
        label: in the legend.
        letter: on a piece that is wide enough ("" for none).
        ink: the colour of the letter.
        hatch: matplotlib's hatch ("" for none).
    """

    color: str
    label: str
    letter: str = ""
    ink: str = "#000000"
    hatch: str = ""


KINDS: dict[str, Look] = {
    "forward": Look(OKABE_ITO["blue"], "forward", "F", "#FFFFFF"),
    "backward": Look(OKABE_ITO["orange"], "backward", "B"),
    "optimizer": Look(OKABE_ITO["yellow"], "optimizer", "O"),
    "compute": Look(OKABE_ITO["bluish green"], "other computing", "X"),
    "launch": Look("#7F7F7F", "launch"),
    "communication": Look(OKABE_ITO["reddish purple"], "communication", "C", hatch="////"),
    "wait": Look("#E4E4E4", "waiting for a rank", "w"),
    "sleep": Look("#F2F2F2", "sleeping", "z", hatch=".."),
    "idle": Look("#FFFFFF", "done"),
}
"""One look for each kind of span (``trace.span.KINDS``), in the order of the legend."""

MEMORY: dict[str, Look] = {
    "parameters": Look(OKABE_ITO["blue"], "parameters"),
    "gradients": Look(OKABE_ITO["orange"], "gradients", hatch="\\\\"),
    "optimizer": Look(OKABE_ITO["yellow"], "optimizer state"),
    "activations": Look(OKABE_ITO["sky blue"], "activations", hatch=".."),
    "buckets": Look(OKABE_ITO["reddish purple"], "buckets", hatch="////"),
    "workspace": Look(OKABE_ITO["bluish green"], "workspace", hatch="--"),
    "inputs": Look("#999999", "inputs"),
}
"""One look for each class of memory (``tensor.observe.MEMORY_KINDS``), what stays at the bottom of the stack first."""


def paler(color: str) -> str:
    """The colour two thirds of the way to white: less of the same thing."""
    return mixed(color, 0.36, 255)


def darker(color: str) -> str:
    """A darker tone of the colour, for hatches and borders."""
    return mixed(color, 0.62, 0)


def mixed(color: str, share: float, other: int) -> str:
    """A colour mixed with a grey.

    Args:
        color: as ``#RRGGBB``.
        share: of the colour, 0 to 1.
        other: the grey, 0 (black) to 255 (white).
    """
    return "#" + "".join(f"{round(share * part + (1 - share) * other):02X}" for part in _parts(color))


def _parts(color: str) -> tuple[int, int, int]:
    """Red, green, blue of ``#RRGGBB``, each 0..255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def contrast(one: str, other: str) -> float:
    """How well two colours can be told apart: 1 (not at all) to 21 (black on white), WCAG 2.1's contrast ratio.

    Args:
        one: a colour as ``#RRGGBB``.
        other: the other.
    """
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    """Relative luminance of an sRGB colour."""
    parts = [part / 255 for part in _parts(color)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
