from __future__ import annotations

import pytest

from simdist.comm import ALGORITHMS
from simdist.comm.layout import Layout
from simdist.comm.promise import keep, promise
from simdist.comm.rehearsal import rehearse


@pytest.mark.parametrize("name", ["chain_broadcast", "chain_reduce"])
@pytest.mark.parametrize("size", range(1, 18))
@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_pieces_follow_each_other(name: str, size: int, pieces: int) -> None:
    row = ALGORITHMS[name]
    for root in sorted({0, size // 2, size - 1}):
        seen = rehearse(row, size, root, Layout(pieces=pieces))
        keep(name, seen, promise(row.collective, size, root, pieces))
        assert len(seen.rounds) == (size - 2 + pieces if size > 1 else 0)
