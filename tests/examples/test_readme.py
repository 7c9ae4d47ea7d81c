"""Is the README true? Its Python runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> list[list[str]]:
    """Every command line of the README, without comments."""
    lines = [line for block in blocks("(?:sh|bash|console)") for line in block.splitlines()]
    return [words for line in lines if (words := shlex.split(line.lstrip("$ "), comments=True))]


def test_the_two_commands_are_the_first_thing() -> None:
    assert [words[:2] for words in commands()[:2]] == [["make", "demo"], ["make", "test"]]
    before = README.split("make demo")[0].strip().splitlines()
    assert len(before) <= 6, f"{len(before)} lines before the first command"


def test_every_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {words[1] for words in commands() if words[0] == "make" and len(words) > 1}
    assert named
    assert named <= targets


def test_every_target_is_explained_by_bare_make() -> None:
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30).stdout
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE):
        assert re.search(rf"^  {target} +\w", shown, re.MULTILINE), f"{target} has no explanation"


def test_every_command_of_simdist_exists() -> None:
    from typer.main import get_command

    from simdist.cli import app

    known: Any = get_command(app())
    named = {words[1] for words in commands() if words[0].endswith("simdist") and len(words) > 1}
    assert named
    assert named <= set(known.commands)


def test_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]+)", README)
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


@pytest.mark.process
@pytest.mark.timeout(110)
def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks run one after the other in one namespace, as a reader would paste them."""
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), namespace)
    assert namespace["run"].time > 0
    assert namespace["run"].world_size == 8
    assert namespace["real"].backend == "process"
