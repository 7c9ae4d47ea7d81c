"""Does every module have its test file? ``simdist/sim/stream.py`` is tested in ``tests/sim/test_stream.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Module -> where it is tested instead, and why.
ELSEWHERE: dict[str, tuple[str, str]] = {
    "comm/transport.py": ("comm", "a protocol without code: the transports that implement it are tested"),
    "__main__.py": ("cli", "three lines; the command line's tests start it"),
}


def modules() -> list[str]:
    """Every module with code of its own, as a path under ``simdist``; an ``__init__`` is its package's contents page."""
    paths = (path.relative_to(ROOT / "simdist") for path in sorted((ROOT / "simdist").rglob("*.py")))
    return [path.as_posix() for path in paths if path.name != "__init__.py"]


def mirror(module: str) -> Path:
    """Where a module's tests live."""
    path = Path(module)
    return ROOT / "tests" / path.parent / f"test_{path.stem.lstrip('_')}.py"


@pytest.mark.parametrize("module", modules())
def test_every_module_has_its_test_file(module: str) -> None:
    if module in ELSEWHERE:
        where, why = ELSEWHERE[module]
        assert (ROOT / "tests" / where).is_dir(), f"{module} should be tested in tests/{where} ({why})"
        return
    assert mirror(module).is_file(), f"simdist/{module} needs {mirror(module).relative_to(ROOT)}"


@pytest.mark.parametrize("module", ELSEWHERE)
def test_every_exception_names_a_module_that_exists(module: str) -> None:
    assert (ROOT / "simdist" / module).is_file()
    assert not mirror(module).is_file(), f"{module} has its own test file by now: remove the exception"
