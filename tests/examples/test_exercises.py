"""Does docs/exercises.md tell what there is, and what check prints?"""

from __future__ import annotations

import re
from pathlib import Path

from simdist.learn import check, exercises
from simdist.learn.solutions.ring_all_reduce import reference as ring

PAGE = (Path(__file__).parents[2] / "docs" / "exercises.md").read_text(encoding="utf-8")


def test_the_page_lists_all_exercises_in_their_order() -> None:
    assert re.findall(r"^\| ★+ \| `(\w+)` \|", PAGE, re.MULTILINE) == [exercise.name for exercise in exercises()]


def test_the_table_on_the_page_is_what_check_prints() -> None:
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert shown == f"{check('small_all_reduce', ring, quiet=True)}\n"
