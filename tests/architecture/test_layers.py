"""Which module may import which? The table of rows, kept true by reading every import statement.

A module imports lower rows and its own chapter only: never a neighbour of the same row, never upward. What counts as an
import: every ``import`` and ``from ... import`` in the file, inside functions and under ``TYPE_CHECKING`` too, since an
annotation with one of our own types is knowledge as well (with a third party's type it is not: nothing is loaded). Relative
imports are resolved. ``import simdist.nn`` counts as ``simdist.nn``; naming the package itself (``import simdist as sd``) counts
as the top row, where the promised names live.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "simdist"

# Row -> its chapters. A chapter is one or several names under ``simdist`` that may import each other. The longest name that
# fits a module decides, so ``nn.parallel`` is not ``nn``.
ROWS: dict[int, tuple[tuple[str, ...], ...]] = {
    0: (("errors",), ("units",), ("place",), ("progress",)),
    1: (("tensor",), ("cluster",), ("trace",), ("schedules",)),
    2: (("utils",), ("nn",), ("optim",), ("cost",), ("comm",), ("data",)),
    3: (("models",), ("sim",)),
    4: (("backends",),),
    5: (("distributed", "futures"),),
    6: (
        ("launch", "result", "clock", "compare", "scaling"),
        ("collectives",),
    ),
    7: (("distributed.ddp", "distributed.bucket", "distributed.reducer"),),
    8: (("nn.parallel",),),
    9: (("plans",),),
    10: (("plot",), ("calibrate",), ("validate",), ("conformance",), ("learn",)),
    11: (("", "cli", "demo", "__main__"),),
}

# (module, imported, why): the listed exceptions, each used (a test below), each inside a function.
EXCEPTIONS: tuple[tuple[str, str, str], ...] = (
    ("result", "plot", "Run's plot methods import the pictures when one is asked for"),
    ("scaling", "plot", "a speed-up curve's plot method does the same"),
)

# Third party -> the only places that may import it.
THIRD_PARTY: dict[str, tuple[str, ...]] = {
    "matplotlib": ("plot",),
    "simpy": ("sim",),
    "greenlet": ("sim",),
    "mpi4py": ("backends.mpi",),
    "typer": ("cli",),
    "rich": ("cli",),
    "torch": (),
}


class Import(NamedTuple):
    """One import statement: the dotted target, its line, and when it runs."""

    target: str
    line: int
    when: str  # "load": with the module; "call": inside a function; "types": never, for annotations


def modules() -> dict[str, Path]:
    """Every module of the package by its name without the leading ``simdist.`` (the package itself is ``""``)."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def place(name: str) -> tuple[int, tuple[str, ...]] | None:
    """The row and chapter of a module: the longest entry of the table that is the name or one of its parents."""
    fits = [
        (len(entry), row, chapter)
        for row, chapters in ROWS.items()
        for chapter in chapters
        for entry in chapter
        if name == entry or (entry and name.startswith(entry + "."))
    ]
    return max(fits)[1:] if fits else None


def imports_of(name: str, path: Path) -> list[Import]:
    """All imports of a file, relative ones resolved, ``from package import module`` as the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    called = {id(inner) for node in ast.walk(tree) if isinstance(node, functions) for inner in ast.walk(node)}
    typing = {id(inner) for node in ast.walk(tree) if _is_type_checking(node) for inner in ast.walk(node)}
    found: list[Import] = []
    for node in ast.walk(tree):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = [part for part in package if part][: len(package) - node.level + 1]
                base = ".".join(["simdist", *above, *([base] if base else [])])
            targets = [_submodule(base, alias.name) for alias in node.names]
        when = "types" if id(node) in typing else "call" if id(node) in called else "load"
        found += [Import(target, node.lineno, when) for target in targets]
    return found


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _submodule(base: str, attribute: str) -> str:
    full = f"{base}.{attribute}"
    return full if full.removeprefix("simdist.") in MODULES and full.startswith("simdist.") else base


IMPORTS = {name: imports_of(name, path) for name, path in MODULES.items()}


def inside(target: str) -> str | None:
    """The module's name without ``simdist.`` if it is one of ours."""
    if target == "simdist":
        return ""
    return target.removeprefix("simdist.") if target.startswith("simdist.") else None


def _within(name: str, entry: str) -> bool:
    return name == entry or name.startswith(entry + ".")


def _excepted(name: str, target: str, when: str) -> bool:
    return when != "load" and any(_within(name, a) and _within(target, b) for a, b, _ in EXCEPTIONS)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_a_row(name: str) -> None:
    assert place(name) is not None, f"simdist.{name} is in no row: decide what it may know and add it to ROWS"


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_lower_rows_and_its_own_chapter_only(name: str) -> None:
    row, chapter = place(name) or (-1, ())
    wrong = []
    for target, line, when in IMPORTS[name]:
        ours = inside(target)
        if ours is None or _excepted(name, ours, when):
            continue
        its_row, its_chapter = place(ours) or (99, ())
        if its_row > row or (its_row == row and its_chapter != chapter):
            wrong.append(f"line {line}: row {row} imports simdist.{ours} of row {its_row}")
    assert not wrong, f"simdist.{name}: " + "; ".join(wrong)


@pytest.mark.parametrize("name", MODULES)
def test_third_parties_stay_in_their_places(name: str) -> None:
    wrong = [
        f"line {line}: {target} belongs to {' and '.join(THIRD_PARTY[top]) or 'no module'}"
        for target, line, when in IMPORTS[name]
        if when != "types"
        and (top := target.split(".")[0]) in THIRD_PARTY
        and not any(_within(name, entry) for entry in THIRD_PARTY[top])
    ]
    assert not wrong, f"simdist.{name}: " + "; ".join(wrong)


def _declared() -> tuple[set[str], set[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements: list[str]) -> set[str]:
        return {req.split(">")[0].split("=")[0].strip().replace("-", "_").lower() for req in requirements}

    extras = {name for extra in project["optional-dependencies"].values() for name in names(extra)}
    return names(project["dependencies"]), extras


def test_every_third_party_import_is_declared_and_every_dependency_is_used() -> None:
    core, extras = _declared()
    used = {
        target.split(".")[0]
        for found in IMPORTS.values()
        for target, _, _ in found
        if inside(target) is None and target.split(".")[0] not in sys.stdlib_module_names
    }
    optional = {name for name in used if name in extras} | {
        "IPython"
    }  # IPython is asked whether it is there, never needed
    assert not used - core - optional, f"imported but not in pyproject.toml: {sorted(used - core - optional)}"
    assert not core - used, f"in pyproject.toml but imported nowhere: {sorted(core - used)}"


def test_every_dependency_is_explained() -> None:
    core, extras = _declared()
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").replace("-", "_").lower()
    missing = [name for name in sorted(core | extras) if f"`{name}`" not in text]
    assert not missing, f"docs/dependencies.md does not say why these are needed: {missing}"


@pytest.mark.parametrize(("name", "target", "why"), EXCEPTIONS)
def test_every_exception_is_used(name: str, target: str, why: str) -> None:
    users = [
        module
        for module, found in IMPORTS.items()
        if _within(module, name) and any((ours := inside(i.target)) and _within(ours, target) for i in found)
    ]
    assert users, f"nobody uses the exception {name} -> {target} ({why}): remove it"


def test_there_is_no_import_cycle() -> None:
    graph = {
        name: {
            ours
            for i in found
            if i.when == "load" and (ours := inside(i.target)) is not None and ours in MODULES and ours != name
        }
        for name, found in IMPORTS.items()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, "import cycle: " + " -> ".join((*path[path.index(name) :], name))
        if name not in done:
            for target in sorted(graph[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_the_test_sees_a_forbidden_import(tmp_path: Path) -> None:
    """The reader itself is tested: an import in a function, a relative one, one for annotations."""
    path = tmp_path / "probe.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "from . import ring\nfrom ..sim import kernel\n"
        "if TYPE_CHECKING:\n    import simdist.plot\n"
        "def f():\n    import matplotlib.pyplot as plt\n"
    )
    found = {(i.target, i.when) for i in imports_of("comm.probe", path)}
    assert ("matplotlib.pyplot", "call") in found
    assert ("simdist.plot", "types") in found
    assert any(target.startswith("simdist.sim") and when == "load" for target, when in found)
    assert any(target.startswith("simdist.comm") and when == "load" for target, when in found)
