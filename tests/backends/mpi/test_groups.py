"""Groups, messages, objects and stores under ``mpiexec``."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.process


@pytest.mark.parametrize("ranks", [2, 4])
def test_every_answer_that_is_compared_with_pytorch_is_the_simulation_s(play, ranks):
    assert play(ranks, "same_answers") == [[]] * ranks


def test_stores_between_processes_and_groups_in_any_order(play, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMDIST_TEST_FOLDER", str(tmp_path))
    keys = ["from 0", "from 1", "from 2", "from 3", "n"]
    sums = [[6.0, 1.0, 0.0], [6.0, 1.0, 1.0], [6.0, 5.0, 2.0], [6.0, 5.0, 3.0]]
    results = [["6", "6", keys, sums[rank], 2, 3, 3 - rank] for rank in range(4)]
    assert play(4, "notes") == [results] * 4
    assert list(tmp_path.iterdir()) == []
