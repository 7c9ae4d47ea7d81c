from __future__ import annotations

import re

import pytest

from simdist.backends.custom import byte_transport
from simdist.conformance.rules import RULES, BrokenError


def test_every_rule_that_is_written_down_is_tried():
    written = {int(n) for n in re.findall(r"^(\d)\. ", byte_transport.__doc__, re.MULTILINE)}
    assert written == {rule.number for rule in RULES} == {1, 2, 3, 4, 5, 6}


def test_names_are_unique():
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_transport_that_does_nothing_breaks_every_rule(rule):
    class Idle:
        size = rule.size

        def __init__(self, rank):
            self.rank = rank

        def isend(self, buf, dst, tag):
            return self

        irecv = isend

        def wait(self, timeout=None):
            return

    with pytest.raises(BrokenError):
        rule.test([Idle(rank) for rank in range(rule.size)], 1.0)
