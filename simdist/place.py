"""Where in the user's file did this happen?

Error texts name the line of the person's own code, not ours. Finding it is on the path of every call, so only the
frame's code object and instruction are kept; file and line are worked out when an error asks.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any

__all__ = ["Place", "caller", "cells", "innermost", "name_cells", "text"]

Place = tuple[CodeType, int]
"""A code object and the index of the instruction in it."""

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_USERS = tuple(
    os.path.join(_PACKAGE, *folder) + os.sep
    for folder in (("learn", "exercises"), ("learn", "solutions"), ("conformance", "programs"))
)
"""Folders of programs that are a learner's, or stand for one: their lines are worth naming."""


class _Ours(dict[str, bool]):
    """File name -> whether it is ours.

    The key is the name and not the code object, since strings remember their hash.
    """

    def __missing__(self, filename: str) -> bool:
        found = self[filename] = filename.startswith(_PACKAGE) and not filename.startswith(_USERS)
        return found


_ours = _Ours()


def caller() -> Place | None:
    """The place in the nearest calling frame that is not simdist's own code."""
    return innermost(sys._getframe(1))


def innermost(frame: FrameType | None) -> Place | None:
    """The same for a suspended stack whose top frame is ``frame``."""
    ours = _ours
    while frame is not None and ours[frame.f_code.co_filename]:
        frame = frame.f_back
    return None if frame is None else (frame.f_code, frame.f_lasti)


def text(place: Place | None) -> str:
    """``train.py:31``; for a notebook cell ``In[7]:3``: line 3 of the cell that Jupyter numbers 7."""
    if place is None:
        return "an unknown place"
    code, instruction = place
    lines = [line for _, _, line in code.co_lines() if line is not None]
    line = next((n for start, end, n in code.co_lines() if start <= instruction < end and n is not None), lines[0])
    return f"{_file(code.co_filename)}:{line}"


def cells() -> dict[str, str]:
    """Made-up file name -> ``In[7]``, for every cell that the IPython of this process has run; empty if there is none."""
    shell = _shell()
    if shell is None:
        return dict(_told)
    named = {name: shell.compile.format_code_name(name) for name in list(linecache.cache) if _is_cell(name)}
    return {name: str(found[1]) for name, found in named.items() if found is not None}


def name_cells(names: Mapping[str, str]) -> None:
    """Tell this process what the cells of another one's IPython are called, as ``cells`` says it there."""
    _told.clear()
    _told.update(names)


_told: dict[str, str] = {}


def _is_cell(name: str) -> bool:
    folder, base = os.path.split(name)
    return os.path.basename(folder).startswith("ipykernel_") or base.startswith("<ipython-input-")


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _file(name: str) -> str:
    """What a person calls the file: IPython compiles each cell under a made-up name, and knows the cell's number."""
    if not _is_cell(name):
        return os.path.basename(name)
    shell = _shell()
    found = None if shell is None else shell.compile.format_code_name(name)
    return _told.get(name, "a notebook cell") if found is None else str(found[1])
