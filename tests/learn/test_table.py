from __future__ import annotations

from simdist.learn.criterion import Criterion
from simdist.learn.table import WIDTH, printable, table

ROWS = (
    Criterion("finishes", "yes", "p = 2, 3", True),
    Criterion("simulated time", "90 us, p = 2", "≤ 45 us", False, "Too slow: look at the timeline."),
    Criterion("same on real processes", "", "same bytes, p = 2", None, ""),
)


def test_the_whole_table() -> None:
    assert table("exchange · p = 2", ROWS, ["rank 0 never waited."]) == "\n".join(
        [
            "exchange · p = 2",
            "criterion               yours         limit",
            "──────────────────────────────────────────────────────────",
            "finishes                yes           p = 2, 3           ✔",
            "simulated time          90 us, p = 2  ≤ 45 us            ✘",
            "same on real processes                same bytes, p = 2  –",
            "──────────────────────────────────────────────────────────",
            "✘ Too slow: look at the timeline.",
            "note: rank 0 never waited.",
            "not passed yet: 1 of 3 criteria met",
        ]
    )


def test_all_met() -> None:
    assert table("x", ROWS[:1]).splitlines()[-1] == "passed"


def test_equal_lessons_are_told_once() -> None:
    shown = table("x", [ROWS[1], ROWS[1]])
    assert shown.count("Too slow") == 1


def test_long_lessons_are_folded_and_their_lines_stay_apart() -> None:
    lesson = "deadlock:\n" + "  rank 0 waits, " + "and waits " * 20 + "\n  rank 1 waits"
    lines = table("x", [Criterion("finishes", "deadlock", "p = 2", False, lesson)]).splitlines()
    assert all(len(line) <= WIDTH + 6 for line in lines)
    assert "    rank 1 waits" in lines


def test_what_the_output_cannot_show_is_replaced() -> None:
    plain = printable(table("n · α", ROWS), "ascii")
    plain.encode("ascii")
    assert "n | alpha" in plain
    assert "<= 45 us" in plain
    assert " NO" in plain
    assert " ok" in plain


def test_otherwise_nothing_changes() -> None:
    text = table("n · α", ROWS)
    assert printable(text, "utf-8") == text
    assert printable(text, None) == text
    assert printable("日 ✔", "latin-1") == "? ok"
