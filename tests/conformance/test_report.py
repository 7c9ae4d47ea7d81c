from __future__ import annotations

import pytest

from simdist.conformance import Finding, Report
from simdist.errors import DistBackendError

FINE = (Finding("order", 2), Finding("order", 4), Finding("tags", 2))


def test_what_passed_is_listed_by_name():
    report = Report("backend 'mine'", FINE)
    assert report.passed
    assert str(report).splitlines() == [
        "backend 'mine': 3 passed",
        "  order  2 ranks ok  4 ranks ok",
        "  tags   2 ranks ok",
    ]
    report.require()


def test_what_failed_is_told_below_its_name():
    report = Report("backend 'mine'", (*FINE, Finding("tags", 4, "took another one")), left="The rest was not tried.")
    assert not report.passed
    assert str(report).splitlines() == [
        "backend 'mine': 1 of 4 failed",
        "  order  2 ranks ok  4 ranks ok",
        "  tags   2 ranks ok  4 ranks NO",
        "      4 ranks: took another one",
        "The rest was not tried.",
    ]
    with pytest.raises(DistBackendError, match="1 of 4 failed"):
        report.require()


def test_what_was_not_tried_has_not_passed():
    assert not Report("backend 'mine'", FINE, left="Programs were not tried.").passed
