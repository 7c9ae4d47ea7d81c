"""Is every citation used, and does an unpublished number say what it is?"""

from __future__ import annotations

import pytest

from simdist.cluster import presets
from simdist.cluster.source import SOURCES


@pytest.mark.parametrize("short", SOURCES)
def test_every_citation_is_used(short: str) -> None:
    every = " ".join(text for name in presets.names() for _, _, text in presets.sources(name))
    assert SOURCES[short] in every


def test_every_text_names_a_work_a_measurement_or_an_assumption() -> None:
    words = (
        "github.com",
        "arXiv",
        ".com",
        ".org",
        ".website",
        ".ac.in",
        "NCCL",
        "NVIDIA",
        "Linley",
        "measurement:",
        "assumption:",
    )
    for short, text in SOURCES.items():
        assert any(word in text for word in words), short


def test_nothing_recalled_without_a_source() -> None:
    for name in presets.names():
        for key, _, text in presets.sources(name):
            assert not any(
                word in text.lower() for word in ("memory:", "recalled", "unverified", "todo"[:2] + "do ")
            ), key
