"""Do the documents match the source? Links lead to files, names exist where they are said to be, Python blocks run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
RUNNABLE = [path for path in sorted(DOCS.rglob("*.md")) if "```python" in path.read_text(encoding="utf-8")]
DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))
SOURCE = {
    file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in (ROOT / "simdist").rglob("*.py")
}
STOP = re.compile(r"^## (\d+)\. \[(simdist/[\w/]+\.py)\]\(\.\./\2\): .*\?$", re.MULTILINE)


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def items(text: str) -> list[str]:
    """The numbered items of a document, in order."""
    return re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]


def unknown(text: str) -> set[str]:
    """The names in code marks that no source file holds."""
    source = "\n".join(SOURCE.values())
    marked = [re.sub(r"[\w./]+/[\w./]*", "", code) for code in re.findall(r"`([^`\n]+)`", text)]
    names = {name for code in marked for name in re.findall(r"[A-Za-z_]\w+", code)}
    return {name for name in names if not re.search(rf"\b{name}\b", source)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=label)
def test_every_link_leads_to_a_file(path: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", path.read_text(encoding="utf-8"))
    assert not [link for link in links if not (path.parent / link).exists()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=label)
def test_every_source_file_that_is_named_exists(path: Path) -> None:
    named = re.findall(r"(?<![\w/])simdist/[\w/]+\.py", path.read_text(encoding="utf-8"))
    assert not [name for name in named if name not in SOURCE]


@pytest.mark.parametrize("path", RUNNABLE, ids=label)
def test_the_python_blocks_run(path: Path) -> None:
    """One after the other in one namespace, as a reader would paste them; they assert what the text says."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, label(path), "exec"), namespace)


def test_the_documents_with_numbers_show_them() -> None:
    assert {"clock.md", "models.md"} <= {path.name for path in RUNNABLE}


def test_the_tour_is_ten_files_in_order() -> None:
    stops = STOP.findall(read("tour.md"))
    assert [int(number) for number, _ in stops] == list(range(1, 11))
    assert len({name for _, name in stops}) == 10


def test_the_names_in_each_stop_are_in_the_files_of_that_stop() -> None:
    """A function is named after its file: what a stop mentions must be found in a file that this stop links to."""
    wrong = []
    for part in re.split(r"^## ", read("tour.md"), flags=re.MULTILINE)[1:11]:
        files = re.findall(r"\((?:\.\./)(simdist/[\w/]+\.py)\)", part)
        text = "\n".join(SOURCE[name] for name in files)
        for code in re.findall(r"`([A-Za-z_][\w.]*)`", part):
            if code.startswith(("simdist", "sd.")):
                continue
            last = code.rsplit(".", 1)[-1]
            if not re.search(rf"\b{last}\b", text):
                wrong.append((part.split(":")[0], code))
    allowed = {"Meetings.attend", "World"}  # pointed to from another stop
    assert not [found for found in wrong if found[1] not in allowed]


def test_every_stop_says_what_one_knows_afterwards() -> None:
    assert read("tour.md").count("*Afterwards you can say*") == 10


@pytest.mark.parametrize("name", ["tour.md", "tour-check.md", "tour-answers.md"])
def test_every_name_is_in_the_source(name: str) -> None:
    assert not unknown(read(name))


def test_a_wrong_name_is_found() -> None:
    assert unknown("see `Kernel.hibernate` in `simdist/sim/kernel.py`") == {"hibernate"}


def test_there_are_ten_questions_and_ten_answers() -> None:
    assert [len(items(read(name))) for name in ("tour-check.md", "tour-answers.md")] == [10, 10]


def test_every_answer_names_a_file_and_a_function_in_it() -> None:
    for number, answer in enumerate(items(read("tour-answers.md")), start=1):
        files = re.findall(r"simdist/[\w/]+\.py", answer)
        assert files, f"answer {number} names no file"
        text = "\n".join(SOURCE[name] for name in files)
        assert any(
            re.search(rf"\b(?:def|class) {name.rsplit('.', 1)[-1]}\b", text)
            for name in re.findall(r"`([\w.]+)`", answer)
        ), f"answer {number} names no function of {files}"


def test_the_line_that_wakes_is_quoted_as_it_is() -> None:
    assert "self.kernel.wake(self.waiter)" in SOURCE["simdist/sim/message.py"]
    assert "task.greenlet.switch(value)" in SOURCE["simdist/sim/kernel.py"]


def test_decisions_are_numbered_and_listed() -> None:
    assert [int(path.name[:4]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", read("decisions/README.md"))
    assert listed == [path.name for path in DECISIONS]


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_the_form(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert text.startswith(f"# {path.name[:4]}: ")
    assert headings == ["Context", "Options", "Choice", "What would change our mind"]
    assert len(text.splitlines()) <= 60, "one page"


def test_the_readme_leads_to_every_document() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [path.name for path in DOCS.glob("*.md") if f"docs/{path.name}" not in readme]
