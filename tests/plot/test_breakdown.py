"""Do the bars show each rank's parts, all of equal length?"""

from __future__ import annotations

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import simdist as sd
from simdist.errors import TraceError
from simdist.plot.breakdown import MAX_BARS, breakdown, shown
from simdist.trace import Trace
from simdist.trace.breakdown import Breakdown
from simdist.trace.breakdown import breakdown as sum_up


def names(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def lengths(ax: Axes) -> dict[int, float]:
    """Total length of each bar, by its place."""
    total: dict[int, float] = {}
    for bar in ax.patches:
        place = round(bar.get_y() + bar.get_height() / 2)  # type: ignore[attr-defined]
        total[place] = total.get(place, 0.0) + bar.get_width()  # type: ignore[attr-defined]
    return total


def test_the_mean_and_one_bar_per_rank_all_as_long_as_the_run(two_ranks: Trace) -> None:
    ax = breakdown(sum_up(two_ranks))
    assert names(ax) == ["mean", "rank 0", "rank 1"]
    assert lengths(ax) == pytest.approx({0: 10, 1: 10, 2: 10})
    assert ax.get_xlim() == (0, 10)
    assert ax.yaxis_inverted()


def test_parts_are_where_they_belong(two_ranks: Trace) -> None:
    ax = breakdown(sum_up(two_ranks))
    forward = ax.containers[0]
    assert [bar.get_width() for bar in forward] == pytest.approx([2.25, 1.5, 3])
    assert legend(ax) == ["forward", "backward", "optimizer", "launch", "communication", "waiting for a rank", "done"]


def test_shares_are_written_where_they_fit(two_ranks: Trace) -> None:
    texts = [text.get_text() for text in breakdown(sum_up(two_ranks)).texts]
    assert {"30%", "40%", "20%", "15%"} <= set(texts)
    assert not any(text in ("0%", "1%", "2%", "3%") for text in texts)


def test_the_title(two_ranks: Trace) -> None:
    found = sum_up(two_ranks)
    text = breakdown(found, title="train").get_title(loc="left")
    assert text == f"train · 2 ranks · 10 s · {found.overlap:.0%} of the communication hidden behind work"


def test_one_rank_has_no_mean() -> None:
    found = Breakdown(({"forward": 2.0},), (0.0,), (0.0,), 2.0)
    ax = breakdown(found)
    assert names(ax) == ["rank 0"]
    assert ax.get_title(loc="left") == "Where the time went · 1 rank · 2 s"


def test_given_axes_are_used(two_ranks: Trace) -> None:
    ax = Figure().subplots()
    assert breakdown(sum_up(two_ranks), ax=ax) is ax


def test_of_very_many_ranks_the_busiest_and_the_idlest_are_shown() -> None:
    parts = tuple({"forward": float(rank), "wait": 100.0 - rank} for rank in range(100))
    found = Breakdown(parts, (0.0,) * 100, (0.0,) * 100, 100.0)
    bars = shown(found)
    assert len(bars) == MAX_BARS + 1
    assert list(bars)[:3] == ["mean", "rank 0", "rank 1"]
    assert list(bars)[-1] == "rank 99"
    assert "rank 50" not in bars
    assert bars["mean"]["forward"] == pytest.approx(49.5)
    assert breakdown(found).get_title(loc="left").endswith("32 ranks shown")


def test_a_part_that_nobody_could_see_has_no_entry() -> None:
    found = Breakdown(({"forward": 1.0, "idle": 1e-6},), (0.0,), (0.0,), 1.000001)
    assert legend(breakdown(found)) == ["forward"]


def test_a_run_of_no_time_has_no_picture() -> None:
    with pytest.raises(TraceError, match="there is no breakdown to draw: the run did nothing that takes time"):
        breakdown(Breakdown(({},), (0.0,), (0.0,), 0.0))


def slow(rank: int, world_size: int) -> None:
    sd.compute(seconds=1e-3 * (rank + 1))
    sd.distributed.barrier()


def test_a_run_is_drawn() -> None:
    ax = sd.run(slow, world_size=4, cluster="dgx-a100").breakdown_plot()
    ax.figure.canvas.draw()
    assert "other computing" in legend(ax)
    assert "waiting for a rank" in legend(ax)
    assert names(ax) == ["mean", "rank 0", "rank 1", "rank 2", "rank 3"]
