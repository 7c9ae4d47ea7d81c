"""What exists before a run is set aside, and only for the run."""

from __future__ import annotations

import gc
import weakref

from simdist.sim.collector import set_aside


def test_it_ends_with_the_block_and_blocks_nest():
    assert not gc.get_freeze_count()
    with set_aside():
        inside = gc.get_freeze_count()
        with set_aside():
            assert gc.get_freeze_count() == inside > 0
        assert gc.get_freeze_count() > 0
    assert not gc.get_freeze_count()


def test_who_has_frozen_before_keeps_it():
    gc.freeze()
    try:
        with set_aside():
            pass
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()


def test_cycles_made_inside_are_found():
    class Node:
        def __init__(self) -> None:
            self.me = self

    with set_aside():
        gone = weakref.ref(Node())
        gc.collect()
        assert gone() is None
