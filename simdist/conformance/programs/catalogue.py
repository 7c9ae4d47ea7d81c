"""Which programs are there?"""

from __future__ import annotations

from . import copies, groups, messages, reductions, training
from .mistakes import MISTAKES
from .program import Mistake, Program

__all__ = ["MISTAKES", "PROGRAMS", "Mistake", "Program"]

PROGRAMS: tuple[Program, ...] = (
    *reductions.PROGRAMS,
    *copies.PROGRAMS,
    *messages.PROGRAMS,
    *groups.PROGRAMS,
    *training.PROGRAMS,
)
"""What must give the same on every backend."""
