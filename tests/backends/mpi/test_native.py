from __future__ import annotations

import re

import pytest

import simdist as sd

pytestmark = pytest.mark.process


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_same_numbers_up_to_the_order_of_additions(play, ranks):
    assert play(ranks, "native") == [True] * ranks


def test_different_calls_are_told_before_mpi_sees_them(play):
    for kind, text, _, _ in play(2, "native_mismatch"):
        assert kind == "CollectiveMismatchError"
        assert re.search(r"all_reduce of \(4,\) float64, SUM \(programs.py:\d+\)", text)
        assert re.search(r"all_reduce of \(5,\) float64, SUM \(programs.py:\d+\)", text)


def test_a_wait_in_mpi_ends_with_the_timeout(play):
    for kind, text, _, seconds in play(2, "native_late"):
        assert kind in ("DistTimeoutError", "ExpiredError")
        assert "waited 0.3 s, its timeout, for: " in text
        assert seconds < 10


def test_only_mpi_has_collectives_of_its_own():
    with pytest.raises(
        ValueError, match=r"native_collectives=True hands collectives to an MPI library; backend='sim' has"
    ):
        sd.run(lambda rank, world_size: None, world_size=1, native_collectives=True)
