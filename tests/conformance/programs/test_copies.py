from __future__ import annotations

import numpy as np

import simdist as sd
from simdist.conformance.programs.copies import PROGRAMS
from simdist.conformance.programs.program import numbers

BY_NAME = {program.name: program for program in PROGRAMS}


def test_a_broadcast_is_the_roots():
    results = sd.run(BY_NAME["broadcast"].fn, world_size=3).results
    expected = [numbers(root, length) for root in (0, 2) for length in (0, 1, 7, 30_000)]
    assert all(np.array_equal(a, b) for found in results for a, b in zip(found, expected, strict=True))


def test_blocks_go_where_they_belong():
    name = "all_to_all, all_to_all_single: equal, uneven and empty blocks"
    results = sd.run(BY_NAME[name].fn, world_size=3).results
    sent = [numbers(rank, 9).reshape(3, 3) for rank in range(3)]
    for rank, (equal, uneven, *parts, _) in enumerate(results):
        assert np.array_equal(equal, np.concatenate([rows[rank] for rows in sent]))
        sizes = [(3 * source + rank) % 4 for source in range(3)]
        assert [len(part) for part in parts] == sizes
        assert len(uneven) == sum(sizes)
    assert 0 in [(3 * s + d) % 4 for s in range(3) for d in range(3)]


def test_objects_arrive():
    everybody, gathered, told, mine = sd.run(BY_NAME["objects"].fn, world_size=2).results[0]
    assert everybody == [{"rank": 0, "text": ""}, {"rank": 1, "text": "ä"}]
    assert gathered == [(0, ""), (1, "x" * 100)]
    assert told == [1, "from", None]
    assert mine == ["for 0"]
