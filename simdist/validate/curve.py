"""What was measured? Times of NCCL's all-reduce over size, on two machines with 2, 4 and 8 ranks.

Source and licence are in ``nccl_allreduce.LICENSE.txt``. The sizes are 1 MiB to 1 GiB in steps of 1 MiB. On which machines
exactly the six tables were measured is not told with them; "a100" and "v100" are their names there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

__all__ = ["SOURCE", "Curve", "curves"]

SOURCE = "VIA-Research/vTrain at f8dda84, nccl-tests all_reduce, float, out of place (MIT)"

_Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Curve:
    """One table.

    Attributes:
        machine: ``"a100"`` or ``"v100"``.
        world_size: number of ranks.
        nbytes: sizes of the buffer, rising.
        seconds: measured time of each.
        busbw: bus bandwidth that nccl-tests printed for each, bytes per second.
    """

    machine: str
    world_size: int
    nbytes: _Array
    seconds: _Array
    busbw: _Array

    @property
    def name(self) -> str:
        """``a100 x 8``."""
        return f"{self.machine} x {self.world_size}"

    def half(self, odd: bool) -> Curve:
        """Every second size: those with an odd index (the second, the fourth ...), or the others, the first among them."""
        part = slice(int(odd), None, 2)
        return Curve(self.machine, self.world_size, self.nbytes[part], self.seconds[part], self.busbw[part])


@cache
def curves() -> tuple[Curve, ...]:
    """All tables, by machine and number of ranks."""
    text = resources.files(__package__).joinpath("nccl_allreduce.json").read_text(encoding="utf-8")
    found = []
    for name, rows in json.loads(text)["data"].items():
        machine, _, world_size = name.partition("_")
        table = np.array(rows, np.float64)
        found.append(Curve(machine, int(world_size), table[:, 0], table[:, 1] * 1e-9, table[:, 2] * 1e9))
    return tuple(sorted(found, key=lambda curve: (curve.machine, curve.world_size)))
