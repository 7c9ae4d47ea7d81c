"""Under which assumptions was a picture made? The words in its title, and the units on its axes.

A picture leaves its program behind: whoever finds it in a report must be able to read what ran where. Data stay in seconds
and bytes; only the labels of the ticks are scaled, so that a person may add a line at ``x=3e-6``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simdist.trace.trace import Trace
from simdist.units import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.axis import Axis

__all__ = ["bytes_axis", "bytes_text", "fold", "time_axis", "time_text", "title"]

_TIMES: tuple[tuple[float, str], ...] = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
_SIZES: tuple[tuple[float, str], ...] = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))

_SHORTEST = 12
"""No name is cut to fewer letters."""


def title(trace: Trace, what: str = "") -> str:
    """Name, number of ranks, cluster, network level, time.

    Args:
        trace: what is drawn; its ``meta`` says how it was made.
        what: more words about the picture.
    """
    meta = trace.meta
    ranks = f"{trace.world_size} rank{'s' * (trace.world_size != 1)}"
    if meta.get("backend", "sim") == "sim":
        where = f"simulated on {meta['cluster']}" if meta.get("cluster") else "simulated"
        where += f" (network: {meta['network']})" if meta.get("network") else ""
    else:
        where = f"measured on real processes ({meta['backend']})"
    words = [f"{meta.get('name', 'run')}: {ranks}", where, time_text(trace.end)]
    return " · ".join(words + [what] * bool(what))


def fold(title: str, letters: int) -> str:
    """Break a title between its parts, so that no line has more than ``letters`` letters, if that can be.

    Args:
        title: parts divided by `` · ``; of a part ``name: more`` that is too long the name is cut.
        letters: of a line.
    """
    lines = [""]
    for part in title.split(" · "):
        part = _cut(part, letters)
        joined = f"{lines[-1]} · {part}" if lines[-1] else part
        if len(joined) <= letters or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(part)
    return "\n".join(lines)


def _cut(part: str, letters: int) -> str:
    """A part that fits into a line: its name is cut, more than it must be, for letters may be wide."""
    name, colon, rest = part.partition(": ")
    room = max(_SHORTEST, int(0.8 * letters) - len(colon + rest))
    return part if len(part) <= letters or len(name) <= room else f"{name[: room - 1]}…{colon}{rest}"


def time_text(seconds: float) -> str:
    """Seconds for a person."""
    return format_time(seconds).replace(" us", " µs")


def bytes_text(nbytes: float) -> str:
    """Bytes for a person."""
    return format_bytes(nbytes)


def time_axis(axis: Axis, extent: float, name: str = "time") -> None:
    """Label an axis that holds seconds with the unit that suits ``extent`` seconds."""
    _label(axis, extent, name, _TIMES)


def bytes_axis(axis: Axis, extent: float, name: str) -> None:
    """Label an axis that holds bytes with the unit that suits ``extent`` bytes."""
    _label(axis, extent, name, _SIZES)


def _label(axis: Axis, extent: float, name: str, units: tuple[tuple[float, str], ...]) -> None:
    from matplotlib.ticker import FuncFormatter

    size, unit = next(((size, unit) for size, unit in units if extent >= size), units[-1])
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / size:.6g}"))
    axis.set_label_text(f"{name} ({unit})")
