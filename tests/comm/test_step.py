from __future__ import annotations

import pytest

from simdist.comm.step import Step, Transfer


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Step(), "rest"),
        (Step(send=Transfer(1, (0,))), "send 0 to 1"),
        (Step(recv=Transfer(2, (3,))), "recv 3 from 2"),
        (Step(send=Transfer(1, (0,)), recv=Transfer(2, (3,)), combine=True), "combine 3 from 2, send 0 to 1"),
        (Step(finish=(4,)), "finish 4"),
        (Step(send=Transfer(1, (0, 1, 2, 6))), "send 0-2+6 to 1"),
        (Step(recv=Transfer(1, ())), "recv nothing from 1"),
    ],
)
def test_a_step_says_what_it_does(step: Step, text: str) -> None:
    assert str(step) == text


def test_a_step_is_a_value() -> None:
    assert Step(send=Transfer(1, (0,))) == Step(Transfer(1, (0,)), None, False, ())
    assert len({Step(), Step(), Step(finish=(0,))}) == 2
