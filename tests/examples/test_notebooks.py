"""Do the notebooks run from top to bottom, on a machine without a network, and end in checked numbers and a figure?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_there_are_notebooks_in_reading_order() -> None:
    assert len(NOTEBOOKS) >= 3
    assert all(path.name[:2].isdigit() for path in NOTEBOOKS)


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
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
