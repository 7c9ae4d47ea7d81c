from __future__ import annotations

import pytest

pytestmark = pytest.mark.process


def test_a_failure_ends_the_waits_of_the_others(play):
    (text, doing, posted), failed = play(2, "endpoint")
    assert (text, posted, failed[0]) == ("another rank has failed", 1, "fails")
    assert len(doing) == 1
    assert doing[0].startswith("waits for the wait: receive of (2,) float64 from rank 1")
