"""Do the notebooks run from top to bottom, on a machine without a network, and end in checked numbers and a figure?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BAR = re.compile(r"(?:(?:speed-up|simulating \w+): [^\n]*)?")
"""A progress bar as text, which a notebook without ipywidgets shows on standard error; or nothing."""


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_there_are_notebooks_in_reading_order() -> None:
    assert len(NOTEBOOKS) >= 3
    assert all(path.name[:2].isdigit() for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_a_plain_notebook_with_stable_ids(path: Path) -> None:
    """A diff of a notebook shows what somebody wrote, and nothing that a program left there."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(dict.fromkeys(ids)) == len(ids)
    assert all(re.fullmatch(rf"{path.name[:2]}-[\w-]+", name) for name in ids), "an id that a program made up"
    assert all(set(cell["metadata"]) <= {"tags"} for cell in notebook["cells"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_begins_with_imports_asks_for_predictions_and_ends_in_an_exercise(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    first = next(cell for cell in cells if cell["cell_type"] == "code")
    assert all(line.startswith(("import ", "from ")) for line in "".join(first["source"]).splitlines())
    tags = [tag for cell in cells for tag in cell["metadata"].get("tags", [])]
    assert tags.count("predict") >= 3
    assert tags[-2:] == ["exercise", "check"]
    assert 'learn.check("' in "".join(cells[-2]["source"])
    asked = ["".join(cell["source"]) for cell in cells if "predict" in cell["metadata"].get("tags", [])]
    assert all("*Predict" in text for text in asked)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_one_idea_per_cell(path: Path) -> None:
    for cell in code_cells(path):
        assert len(cell["source"]) <= 26, "what is longer belongs into the package: " + cell["id"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_not_kept_in_git(path: Path) -> None:
    for cell in code_cells(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_uses_public_names_only(path: Path) -> None:
    for cell in code_cells(path):
        source = "".join(cell["source"])
        assert "!pip" not in source
        assert "%pip" not in source
        assert "._" not in source, f"a private name in: {source}"
        assert "simdist.learn.exercises" not in source, "solutions stay beside the exercises"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_last_cells_assert_numbers(path: Path) -> None:
    assert any("assert " in "".join(cell["source"]) for cell in code_cells(path)[-3:])


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the kernel's own, not ours: cells see their warnings themselves
def test_it_runs_from_top_to_bottom_and_draws(path: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs), "no figure"
    assert not surprises("".join(output.text for output in outputs if output.get("name") == "stderr"))


def surprises(text: str) -> list[str]:
    """What is written on standard error, apart from progress bars."""
    lines = (re.sub(r"\x1b\[\w", "", line).strip() for line in re.split(r"[\r\n]+", text))
    return [line for line in lines if not BAR.fullmatch(line)]


def test_a_bar_is_no_surprise_and_a_warning_is() -> None:
    assert not surprises(
        "\rspeed-up:  14%|#4        | 1/7 [00:00<00:00]\n\x1b[A\rsimulating train: 0 steps [00:00]\r     \r"
    )
    assert surprises("speed-up: 1/7\n<cell>:3: UserWarning: a thing") == ["<cell>:3: UserWarning: a thing"]
