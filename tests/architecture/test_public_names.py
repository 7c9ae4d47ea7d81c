"""Are the promised names there, and does everything public say what it is?

Notebooks and people's code rest on the names: a change is a decision record and a changelog entry.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "simdist"

PROMISED: dict[str, tuple[str, ...]] = {
    "simdist": (
        "run compare speedup load_run manual_seed current_time sleep compute Cluster Node Accelerator Link".split()
        + "clusters data nn optim distributed".split()
    ),
    "simdist.distributed": (
        "init_process_group destroy_process_group is_initialized get_rank get_world_size new_group all_reduce broadcast"
        " reduce all_gather all_gather_into_tensor reduce_scatter reduce_scatter_tensor gather scatter barrier send recv"
        " isend irecv ReduceOp"
    ).split(),
    "simdist.nn": (
        "Module Parameter Linear Embedding LayerNorm Dropout GELU ReLU MultiheadAttention TransformerBlock Sequential MLP"
        " functional"
    ).split(),
    "simdist.nn.parallel": ("DistributedDataParallel",),
    "simdist.optim": ("SGD", "Adam", "AdamW"),
    "simdist.models": ("GPT",),
    "simdist.data": ("digits", "text"),
    "simdist.learn": ("check", "hint"),
}

# Modules that may have no __all__: the reason.
NO_ALL: dict[str, str] = {"simdist.__main__": "it is run, never imported"}

# What `import simdist` must not load: each is loaded when it is first needed.
LAZY = (
    "matplotlib",
    "IPython",
    "cloudpickle",
    "simpy",
    "greenlet",
    "typer",
    "rich",
    "tqdm",
    "multiprocessing.connection",
)


def modules() -> dict[str, Path]:
    """Every module's full name and file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in PROMISED.items() for name in names])
def test_the_promised_name_is_there(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name), f"{module}.{name} is promised"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_answers_its_question_first(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    docstring = ast.get_docstring(tree)
    assert docstring, f"{module} needs a docstring that says which question it answers"
    assert docstring.splitlines()[0].strip(), f"{module}: the first line of the docstring is empty"


def _assigns_all(tree: ast.Module) -> bool:
    targets = [
        target
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


@pytest.mark.parametrize("module", [name for name in MODULES if name not in NO_ALL])
def test_every_module_lists_its_public_names(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    empty = all(isinstance(node, ast.Expr) for node in tree.body)  # a package that only has a docstring
    assert empty or _assigns_all(tree), f"{module} needs __all__"


def _public_things(module: str) -> list[tuple[str, object]]:
    """The functions and classes in ``__all__`` that this module itself defines."""
    loaded = importlib.import_module(module)
    things = [(name, getattr(loaded, name)) for name in getattr(loaded, "__all__", ())]
    return [
        (name, thing)
        for name, thing in things
        if (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__module__ == module
    ]


def _own_functions(thing: object) -> list[object]:
    """A function itself; a class's own public methods."""
    if inspect.isfunction(thing):
        return [thing]
    members = [value for name, value in vars(thing).items() if not name.startswith("_") or name == "__init__"]
    plain = [value.__func__ if isinstance(value, staticmethod | classmethod) else value for value in members]
    return [
        value for value in plain if inspect.isfunction(value) and value.__module__ == getattr(thing, "__module__", "")
    ]


def _unannotated(function: object) -> list[str]:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    names = [
        name
        for index, (name, parameter) in enumerate(signature.parameters.items())
        if parameter.annotation is parameter.empty and not (index == 0 and name in ("self", "cls"))
    ]
    return names + (["the result"] if signature.return_annotation is signature.empty else [])


@pytest.mark.parametrize("module", MODULES)
def test_everything_in_all_exists_has_a_docstring_and_annotations(module: str) -> None:
    if module in NO_ALL or module == "simdist.backends.mpi":  # needs mpi4py, an extra
        return
    wrong = []
    for name, thing in _public_things(module):
        if not inspect.getdoc(thing) or (
            inspect.isclass(thing) and "__doc__" in vars(thing) and not vars(thing)["__doc__"]
        ):
            wrong.append(f"{name} has no docstring")
        for function in _own_functions(thing):
            if (missing := _unannotated(function)) and not hasattr(thing, "_fields"):  # a NamedTuple's methods are made
                wrong.append(f"{function.__qualname__}: no annotation of {', '.join(missing)}")  # type: ignore[attr-defined]
    assert not wrong, f"{module}: " + "; ".join(wrong)


def test_importing_simdist_loads_nothing_heavy() -> None:
    code = "import sys, simdist; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.split())
    assert not loaded & set(LAZY), f"import simdist loads {sorted(loaded & set(LAZY))}"


def test_dir_of_simdist_shows_the_promised_names() -> None:
    import simdist

    assert not [name for name in PROMISED["simdist"] if name not in dir(simdist)]


def test_asking_for_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import simdist

    with pytest.raises(AttributeError, match="sped_up"):
        _ = simdist.sped_up  # type: ignore[attr-defined]
