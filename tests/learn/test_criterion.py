from __future__ import annotations

import pytest

from simdist.learn.criterion import Criterion


@pytest.mark.parametrize(("met", "mark"), [(True, "✔"), (False, "✘"), (None, "–")])
def test_a_criterion_is_met_not_met_or_not_reached(met: bool | None, mark: str) -> None:
    row = Criterion("simulated time", "45 us", "≤ 46 us", met)
    assert row.mark == mark
    assert row.passed is (met is True)
    assert str(row) == f"simulated time: 45 us (≤ 46 us) {mark}"
