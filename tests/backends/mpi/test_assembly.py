from __future__ import annotations

import pytest

pytestmark = pytest.mark.process


def test_everybody_gets_what_all_gave_and_nobody_waits_for_ever(play):
    assert play(3, "assembly") == [[[0, 1, 2], "late"]] * 3
