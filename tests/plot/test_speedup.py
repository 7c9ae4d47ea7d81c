"""Does the speed-up curve show the measured, the ideal and the fitted, and the efficiency beside it?"""

from __future__ import annotations

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import simdist as sd
from simdist.plot.speedup import efficiency, speedup
from simdist.scaling import Scaling

SIZES = (1, 2, 4, 8)
SERIAL = Scaling(SIZES, tuple(4.0 * (0.25 + 0.75 / size) for size in SIZES), "strong", "train", "dgx-a100")
WEAK = Scaling(SIZES, (1.0, 1.0, 1.25, 2.0), "weak", "train")


def line(ax: Axes, label: str) -> tuple[list[float], list[float]]:
    found = next(line for line in ax.lines if str(line.get_label()).startswith(label))
    return [float(x) for x in found.get_xdata()], [float(y) for y in found.get_ydata()]


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_measured_and_ideal() -> None:
    ax = SERIAL.plot()
    assert line(ax, "train") == (list(SIZES), pytest.approx(SERIAL.speedup))
    assert line(ax, "ideal") == (list(SIZES), list(SIZES))


def test_the_law_goes_through_times_that_follow_it() -> None:
    sizes, gains = line(SERIAL.plot(), "Amdahl's law, serial fraction 25.0%")
    assert (sizes[0], sizes[-1]) == (1, pytest.approx(8))
    assert (gains[0], gains[-1]) == (pytest.approx(1), pytest.approx(SERIAL.speedup[-1]))


def test_the_limit_is_drawn_where_it_is_near() -> None:
    assert "limit 4x" in words(SERIAL.plot())
    far = Scaling((1, 2), (4.0 * (0.01 + 0.99), 4.0 * (0.01 + 0.99 / 2)))
    assert not any("limit" in word for word in words(far.plot()))


def test_a_law_that_the_times_miss_has_no_limit_in_the_picture() -> None:
    odd = Scaling((1, 2, 4, 8, 16), (188.0, 97.0, 51.0, 27.0, 40.0))
    ax = odd.plot()
    assert not any("limit" in word for word in words(ax))
    assert "6.96x" in words(ax)


def test_values_stand_at_the_points() -> None:
    assert words(SERIAL.plot())[-3:] == ["1.6x", "2.29x", "2.91x"]


def test_two_panels_and_a_title_with_the_assumptions() -> None:
    figure = SERIAL.plot().figure
    assert len(figure.axes) == 2
    assert figure.get_suptitle().splitlines() == [  # type: ignore[union-attr]
        "train: strong scaling on dgx-a100 · 1 to 8 ranks · 4 s to 1.38 s",
        "Serial fraction 25.0% (Amdahl's law): no number of ranks gives more than 4x.",
    ]


def test_efficiency_bars() -> None:
    ax = efficiency(SERIAL, Figure().subplots())
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([100, 80, 57.142857, 36.363636])  # type: ignore[attr-defined]
    assert words(ax) == ["100%", "80%", "57%", "36%"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "4", "8"]


def test_given_axes_show_the_speed_up_alone() -> None:
    figure = Figure()
    ax = figure.subplots()
    assert speedup(SERIAL, ax=ax) is ax
    assert SERIAL.plot(ax=ax) is ax
    assert len(figure.axes) == 1
    assert ax.get_title(loc="left").startswith("train: strong scaling on dgx-a100")


def test_axes_are_doublings_with_plain_numbers() -> None:
    ax = SERIAL.plot()
    ax.figure.canvas.draw()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "4", "8"]
    assert {"1", "2", "4", "8"} <= {label.get_text() for label in ax.get_yticklabels()}
    assert ax.get_xlabel() == "ranks"


def test_weak_scaling() -> None:
    ax = WEAK.plot()
    assert ax.get_ylabel() == "scaled speed-up"
    assert line(ax, "Gustafson's law, serial fraction 51.5%")[1][0] == pytest.approx(1)
    assert "train: weak scaling · 1 to 8 ranks · 1 s to 2 s" in ax.figure.get_suptitle()  # type: ignore[union-attr]


def test_one_size_has_points_and_no_law() -> None:
    ax = Scaling((4,), (2.0,)).plot()
    ax.figure.canvas.draw()
    assert [str(line.get_label()) for line in ax.lines] == ["ideal", "run"]


def test_slower_with_every_rank_is_drawn_too() -> None:
    ax = Scaling((1, 2, 4), (1.0, 1.5, 2.5)).plot()
    ax.figure.canvas.draw()
    assert ax.get_ylim()[0] < 0.4


def work(rank: int, world_size: int) -> None:
    sd.compute(seconds=1e-3 / world_size)
    sd.distributed.barrier()


def test_a_measured_speed_up_is_drawn() -> None:
    ax = sd.speedup(work, world_sizes=[1, 2, 4, 8], cluster="dgx-a100").plot()
    ax.figure.canvas.draw()
    assert line(ax, "work")[0] == [1, 2, 4, 8]


ODD = Scaling((1, 2, 4, 8, 16), (188.0, 97.0, 51.0, 27.0, 40.0), name="a_function_with_a_name_" * 6)


def test_long_titles_and_names_stay_inside_the_picture() -> None:
    ax = ODD.plot()
    figure = ax.figure
    figure.canvas.draw()
    title = figure._suptitle.get_window_extent()  # type: ignore[union-attr]
    assert ODD.verdict.endswith("number.") and title.x0 >= 0
    assert figure.get_suptitle().replace("\n", " ").endswith(ODD.verdict[1:])  # type: ignore[union-attr]
    lines = figure.get_suptitle().splitlines()  # type: ignore[union-attr]
    assert len(lines) > 2 and all(len(line) <= 112 for line in lines[1:])
    legend = ax.get_legend()
    assert legend is not None and [t.get_text() for t in legend.get_texts()][-1] == "a_function_with_a_name_a_fu…"


def test_no_value_lies_on_the_line_of_full_efficiency_or_on_an_axis() -> None:
    for scaling in (ODD, SERIAL, WEAK, Scaling((1, 2, 4), (1.0, 1.5, 2.5)), Scaling((4,), (2.0,))):
        ax = scaling.plot()
        figure = ax.figure
        figure.canvas.draw()
        second = figure.axes[1]
        line = second.transData.transform((0, 100))[1]
        for text in second.texts:
            box = text.get_window_extent()
            assert box.y1 <= line or box.y0 >= line
        for text in ax.texts:
            assert text.get_window_extent().y0 > ax.get_window_extent().y0


def test_one_size_is_not_called_a_range() -> None:
    assert Scaling((4,), (2.0,)).plot().figure.get_suptitle() == "run: strong scaling · 4 ranks · 2 s"  # type: ignore[union-attr]
