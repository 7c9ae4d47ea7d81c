"""What a rank says of a collective, and what is said of two that differ."""

from dataclasses import replace

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, Call, Members, Request
from simdist.comm.entry import LESSON, Entry, blocks_differ, mismatch
from simdist.place import caller

ONE = Entry(1, "collective 3 of group 'world'", "broadcast of (4,) float32, root 0", "train.py:5")
OTHER = Entry(0, "collective 3 of group 'world'", "all_reduce of (4,) float32, SUM", "train.py:9")


def test_of_a_call():
    signature = ("all_reduce", (4,), np.dtype("float32"), "SUM", None)
    members = Members(2, (3, 5), 1, "tp")
    request = Request("all_reduce", members, ALGORITHMS["ring_all_reduce"], 0, None, np.add, 0, signature, 16)
    entry = Entry.of(Call(request, 7, np.zeros(4), caller()))
    assert entry[:3] == (5, "collective 7 of group 'tp'", "all_reduce of (4,) float32, SUM")
    assert entry.where.startswith("test_entry.py:")
    assert Entry.of(Call(replace(request, name="x"), 7, np.zeros(4))).where == "an unknown place"


@pytest.mark.parametrize("group", ["world", "it's", "a: b", 'a "quoted" \\ one', "new\nline"])
@pytest.mark.parametrize("what", ["barrier", "new_group([0, 1, ..., 9]: 20 ranks, checksum 0a)"])
def test_it_survives_the_wire(group, what):
    entry = Entry(4, f"collective 12 of group {group!r}", what, "train.py:3")
    assert Entry.unpack(4, entry.pack()) == entry


@pytest.mark.parametrize("note", [b"", b"barrier", b"message of float32\n4\ntrain.py:3", b"\xff\xfe"])
def test_other_notes_are_none(note):
    assert Entry.unpack(0, note) is None


def test_only_the_call_is_compared():
    assert ONE.is_like(ONE._replace(rank=2, where="elsewhere.py:1"))
    assert not ONE.is_like(OTHER)
    assert not ONE.is_like(ONE._replace(which="collective 4 of group 'world'"))


def test_ranks_that_differ():
    assert mismatch(1.2e-3, ONE, OTHER) == (
        "rank 1 at 1.2 ms: collective 3 of group 'world' is broadcast of (4,) float32, root 0 (train.py:5), but rank 0 called "
        f"all_reduce of (4,) float32, SUM (train.py:9). {LESSON}"
    )


def test_blocks_that_differ():
    source, to = ONE._replace(what="all_to_all_single"), OTHER._replace(what="all_to_all_single")
    assert blocks_differ(0.0, source, to, 2, 4) == (
        "rank 0 at 0 s: collective 3 of group 'world' is all_to_all_single: 1->0: sent 2, expected 4 elements (rank 1: "
        "train.py:5, rank 0: train.py:9). The output split that rank 0 gives for rank 1 must be the input split that rank 1 "
        "gives for rank 0."
    )
