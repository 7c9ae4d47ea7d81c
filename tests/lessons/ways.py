"""How else can a program be run? At every network level, and on real processes."""

from __future__ import annotations

import re
from typing import Any

import pytest

import simdist as sd
from simdist.sim.level import LEVELS

SIMULATED = {
    **{level: {"network": level} for level in LEVELS},
    "every message": {"network": "messages", "eager_limit": 1},  # of one byte: enough to leave no short cut
    "every event": {"network": "messages", "strict": True},
}
"""Ways through the simulator, as options of ``sd.run``."""

REAL = {"process": {"backend": "process", "timeout": 1.0}}
WAYS = SIMULATED | REAL

every_way = pytest.mark.parametrize("way", WAYS)
every_simulated_way = pytest.mark.parametrize("way", SIMULATED)


def run(fn: Any, way: str, world_size: int = 2, **options: Any) -> list[Any]:
    """The results of ``fn`` on every rank."""
    results: list[Any] = sd.run(fn, world_size=world_size, **(WAYS[way] | options)).results
    return results


def lines(text: str, file: str) -> list[str]:
    """The lines of ``file`` that a text names."""
    return re.findall(rf"{re.escape(file)}:\d+", text)
