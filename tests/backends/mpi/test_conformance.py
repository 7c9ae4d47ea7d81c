"""MPI passes the suite that every backend has to pass, with the bytes of simulation and of local processes."""

from __future__ import annotations

import pytest

from simdist.conformance import check

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def told(play):
    """What each process says, by number of ranks."""
    return {ranks: play(ranks, "conforms") for ranks in (2, 4)}


@pytest.mark.parametrize("ranks", [2, 4])
def test_it_passes(told, ranks):
    for passed, _, text in told[ranks]:
        assert passed, text


def test_three_backends_give_the_same_bytes(told):
    names = ("sim", "process")
    prints = {check(name, world_sizes=(2,), only="^(?!mistake)").fingerprint for name in names}
    prints |= {fingerprint for _, fingerprint, _ in told[2]}
    assert len(prints) == 1


def test_its_own_collectives_give_the_same_up_to_the_order_of_additions(play):
    for passed, _, text in play(4, "conforms_natively"):
        assert passed, text
