from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from simdist.cli.failure import UsageError
from simdist.cli.picture import save


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.PDF"])
def test_the_ending_chooses_the_format(tmp_path: Path, name: str) -> None:
    axes = Figure().subplots()
    assert save(axes, tmp_path / name) == str(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 500


def test_a_figure_or_several_axes_are_fine(tmp_path: Path) -> None:
    figure = Figure()
    axes = figure.subplots(2, 2)
    for number, drawing in enumerate((figure, axes, list(axes.flat), (axes[0, 0],))):
        save(drawing, tmp_path / f"{number}.png")
    assert len(list(tmp_path.glob("*.png"))) == 4


def test_an_unknown_ending_is_refused_with_the_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'a\.txt' does not end like a picture\. Known endings: .*pdf.*png.*svg"):
        save(Figure().subplots(), tmp_path / "a.txt")


def test_a_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no directory '.*nowhere' to write 'a\.png' into"):
        save(Figure().subplots(), tmp_path / "nowhere" / "a.png")
