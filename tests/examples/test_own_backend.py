"""The example of docs/backends.md: it runs, and it is as short as it is said to be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own_backend.py"


def test_it_runs():
    done = subprocess.run([sys.executable, EXAMPLE], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[6.0, 6.0, 6.0, 6.0] on every rank, by backend 'queues'\n", done.stderr


def test_the_backend_itself_takes_forty_lines():
    text = EXAMPLE.read_text().split("class Delivery", 1)[1].split("def train", 1)[0]
    assert len([line for line in text.splitlines() if line.strip()]) <= 40
