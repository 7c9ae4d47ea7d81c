from __future__ import annotations

import pytest

pytestmark = pytest.mark.process


def test_order_size_and_folding(play):
    assert play(2, "wires") == [[True, True, True]] * 2
