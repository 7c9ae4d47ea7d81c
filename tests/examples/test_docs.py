"""Do the documents match the source? Their links lead to files, the names they mention exist in the file that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(path: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", path.read_text(encoding="utf-8"))
    assert not [link for link in links if not (path.parent / link).exists()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_source_file_that_is_named_exists(path: Path) -> None:
    named = re.findall(r"(?<![\w/])simdist/[\w/]+\.py", path.read_text(encoding="utf-8"))
    assert not [name for name in named if not (ROOT / name).is_file()]


def test_the_tour_is_ten_files_in_order() -> None:
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    stops = re.findall(r"^## (\d+)\. \[(simdist/[\w/]+\.py)\]", text, re.MULTILINE)
    assert [int(number) for number, _ in stops] == list(range(1, 11))
    assert len({name for _, name in stops}) == 10


def test_every_name_in_the_answers_is_in_the_source() -> None:
    answers = (ROOT / "docs" / "tour-check.md").read_text(encoding="utf-8").split("## Answers")[1]
    source = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "simdist").rglob("*.py"))
    names = {name for code in re.findall(r"`([^`]+)`", answers) for name in re.findall(r"[A-Za-z_]\w+", code)}
    assert not {name for name in names if not re.search(rf"\b{name}\b", source)}


def test_there_are_as_many_answers_as_questions() -> None:
    questions, answers = (ROOT / "docs" / "tour-check.md").read_text(encoding="utf-8").split("## Answers")
    count = [len(re.findall(r"^\d+\. ", part, re.MULTILINE)) for part in (questions, answers)]
    assert count == [10, 10]
