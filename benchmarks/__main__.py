"""Run every benchmark, each in a process of its own, one after the other (they measure ratios: nothing else may run).

``python -m benchmarks`` runs all, ``python -m benchmarks trace`` those whose name contains "trace".
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main(words: list[str]) -> int:
    """Run the benchmarks whose name contains one of ``words`` (all without words); the number of those that failed."""
    files = [
        file
        for file in sorted(Path(__file__).parent.glob("bench_*.py"))
        if not words or any(word in file.stem for word in words)
    ]
    failed = 0
    for file in files:
        print(f"== {file.stem.removeprefix('bench_')}", flush=True)
        failed += subprocess.run([sys.executable, str(file)], check=False).returncode != 0
        print(flush=True)
    if not files:
        print(f"no benchmark is called like {' or '.join(words)}", file=sys.stderr)
    return failed if files else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
