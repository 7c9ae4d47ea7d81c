"""Do the curves of algorithms show the league's times, the bound, and who is the fastest where?"""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

import simdist as sd
from simdist.errors import UnknownNameError
from simdist.plot.algorithms import SIZES, Reign, algorithms, reigns

SOME = (1 << 10, 1 << 16, 1 << 22, 1 << 28)


def test_a_curve_for_each_algorithm_and_the_bound_below_them() -> None:
    ax = algorithms("all_reduce", "dgx-a100", 8, sizes=SOME)
    lines = {
        str(line.get_label()): list(line.get_ydata()) for line in ax.lines if not str(line.get_label()).startswith("_")
    }
    names = {name.removesuffix("_all_reduce") for name in sd.collectives.algorithms("all_reduce")}
    assert set(lines) == names | {"lower bound"}
    for index, nbytes in enumerate(SOME):
        table = sd.collectives.league("all_reduce", cluster="dgx-a100", world_size=8, nbytes=nbytes)
        for standing in table.standings:
            assert lines[standing.algorithm.removesuffix("_all_reduce")][index] == standing.seconds
        assert lines["lower bound"][index] == table.bound <= min(ys[index] for ys in lines.values())
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_the_strip_names_the_fastest() -> None:
    ax = algorithms("all_reduce", "dgx-a100", 8, sizes=SOME)
    assert [text.get_text() for text in ax.texts] == ["fastest: recursive_doubling", "fastest: halving_doubling"]
    tables = [sd.collectives.league("all_reduce", cluster="dgx-a100", world_size=8, nbytes=n) for n in SOME]
    assert reigns(tables) == [
        Reign("recursive_doubling_all_reduce", SOME[0], SOME[1]),
        Reign("halving_doubling_all_reduce", SOME[2], SOME[3]),
    ]


def test_ticks_and_title_are_for_people() -> None:
    ax = algorithms("broadcast", "pc-10gbe", 8, sizes=SOME)
    ax.figure.canvas.draw()
    assert {"1 kB", "1 MB", "100 MB"} <= {label.get_text() for label in ax.get_xticklabels()}
    assert {"1 ms", "100 µs"} <= {label.get_text() for label in ax.get_yticklabels()}
    assert ax.get_title(loc="left").startswith("broadcast: 8 ranks on pc-10gbe · simulated")


@pytest.mark.parametrize("collective", ["all_gather", "all_to_all", "reduce_scatter", "gather", "scatter", "reduce"])
def test_every_collective_has_its_picture(collective: str) -> None:
    ax = sd.plot.algorithms(collective, "dgx-a100", 4, sizes=(1 << 12, 1 << 20))
    ax.figure.canvas.draw()


def test_given_axes_are_drawn_on_and_sizes_are_sorted() -> None:
    ax = Figure().subplots()
    assert algorithms("all_gather", sizes=(4096, 1024, 4096), ax=ax) is ax
    assert list(ax.lines[0].get_xdata()) == [1024, 4096]
    assert SIZES[0] == 1024 and SIZES[-1] == 1 << 30


def test_questions_that_have_no_picture() -> None:
    with pytest.raises(UnknownNameError, match=r"no collective named 'allreduce'\. Did you mean 'all_reduce'"):
        algorithms("allreduce")
    with pytest.raises(ValueError, match="a barrier has no bytes"):
        algorithms("barrier")
    with pytest.raises(ValueError, match=r"sizes must be bytes, at least 1 and at least one of them, got \[0, 8\]"):
        algorithms("all_reduce", sizes=[0, 8])
    with pytest.raises(ValueError, match="with world_size=1 nothing is sent"):
        algorithms("all_reduce", world_size=1)
