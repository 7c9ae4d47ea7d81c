from __future__ import annotations

import math

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, plan

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 16]


@pytest.mark.parametrize("size", SIZES)
def test_after_it_everybody_has_heard_of_everybody(size: int) -> None:
    heard = [{rank} for rank in range(size)]
    plans = [plan(ALGORITHMS["dissemination_barrier"], rank, size) for rank in range(size)]
    for round_index in range(len(plans[0])):
        before = [set(known) for known in heard]
        for rank in range(size):
            step = plans[rank][round_index]
            assert step.recv is not None
            heard[rank] |= before[step.recv.peer]
    assert all(known == set(range(size)) for known in heard)


@pytest.mark.parametrize("size", SIZES)
def test_it_takes_log2_rounds_of_one_message_each(play, size: int) -> None:
    sent = play("dissemination_barrier", [np.zeros(0) for _ in range(size)])
    rounds = math.ceil(math.log2(size)) if size > 1 else 0
    assert len(sent) == size * rounds
    assert all(count == 0 for _, _, count in sent), "barriers carry no data"
