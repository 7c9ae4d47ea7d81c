"""Does anything in the repository depend on one machine? No tracked file names a private path, an index, an unfinished place."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BINARY = {".npz", ".npy", ".png", ".gz", ".xz"}

# What -> pattern. This file itself is not searched.
FORBIDDEN: dict[str, str] = {
    "an absolute path of one machine": r"(?<![\w.~])/(?:work|root|home|tmp|opt|Users)/\w",
    "a directory beside the repository": r"\.\./shared\b",
    "a package index": r"(?:extra-)?index[-]url|find[-]links",
    "an unfinished place": r"\b(?:TODO|FIXME|XXX)\b",
    "a merge that was not finished": r"^(?:<{7}|>{7}) ",
}


def tracked() -> list[str]:
    """The text files under version control (everything but caches where git is not there)."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [name for name in listed.stdout.split("\0") if name]
    readable = [name for name in names if Path(name).suffix not in BINARY and (ROOT / name).is_file()]
    return [name for name in readable if (ROOT / name) != Path(__file__)]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_holds(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what], re.MULTILINE)
    found = []
    for name in tracked():
        text = (ROOT / name).read_text(encoding="utf-8")
        found += [f"{name}:{text.count(chr(10), 0, m.start()) + 1}: {m.group()!r}" for m in pattern.finditer(text)]
    assert not found, f"{what}: " + "; ".join(found[:20])


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("an absolute path of one machine", "open('/home/me/data')"),
        ("a package index", "pip --index" + "-url x"),
        ("an unfinished place", "# TODO later"),
        ("a merge that was not finished", "<" * 7 + " HEAD"),
    ],
)
def test_the_patterns_find_what_they_are_for(what: str, text: str) -> None:
    assert re.search(FORBIDDEN[what], text, re.MULTILINE)


def test_ordinary_text_is_left_alone() -> None:
    for text in ("docs/opt/x", "a work/rest ratio", "https://arxiv.org/abs/1706.02677", "~/data/x"):
        assert not re.search(FORBIDDEN["an absolute path of one machine"], text), text
