"""Does the timeline show who did what when, with words that fit, quickly, for few spans and for many?"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

import simdist as sd
from simdist.demo import train
from simdist.errors import TraceError
from simdist.plot.palette import KINDS
from simdist.plot.timeline import MAX_RANKS, layout, shown_ranks, timeline
from simdist.trace import Trace


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def areas(ax: Axes, label: str) -> list[tuple[float, float, float]]:
    """(start, end, top) of every area with that label."""
    shapes = [c for c in ax.collections if isinstance(c, PathCollection) and c.get_label() == label]
    boxes = [box for shape in shapes for path in shape.get_paths() for box in path.to_polygons()]
    return [(float(box[:, 0].min()), float(box[:, 0].max()), float(box[:, 1].min())) for box in boxes]


def test_one_row_per_rank_and_stream(two_ranks: Trace) -> None:
    ax = timeline(two_ranks)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["rank 0", "rank 1", "comm:0", "comm:0"]
    assert ax.yaxis_inverted()
    assert ax.get_xlim() == (0, 10)


def test_areas_are_where_the_spans_are(two_ranks: Trace) -> None:
    ax = timeline(two_ranks)
    assert [(a, b) for a, b, _ in areas(ax, "forward")] == [(0.5, 2), (0, 3)]
    assert [(a, b) for a, b, _ in areas(ax, "forward (launch)")] == [(0, 0.5)]
    assert sorted((a, b) for a, b, _ in areas(ax, "communication")) == [(6, 8), (6, 8), (6, 8), (7, 8)]
    assert areas(ax, "idle") == []


def test_the_colours_are_the_palettes_and_communication_is_hatched(two_ranks: Trace) -> None:
    ax = timeline(two_ranks)
    looks = {c.get_label(): c for c in ax.collections if isinstance(c, PathCollection)}
    from matplotlib.colors import to_hex

    assert to_hex(looks["forward"].get_facecolor()[0]).upper() == KINDS["forward"].color
    assert looks["communication"].get_hatch() == KINDS["communication"].hatch


def test_the_legend_names_what_is_seen_and_no_more(two_ranks: Trace) -> None:
    assert legend(timeline(two_ranks)) == [
        "forward (F)",
        "backward (B)",
        "optimizer (O)",
        "communication (C)",
        "waiting for a rank (w)",
        "pale: launch overhead",
    ]
    assert "optimizer (O)" not in legend(timeline(two_ranks, end=7.5))


def test_the_title_prints_the_assumptions(two_ranks: Trace) -> None:
    ax = timeline(two_ranks)
    assert ax.get_title(loc="left") == "train: 2 ranks · simulated on dgx-a100 (network: messages) · 10 s"
    assert ax.get_xlabel() == "simulated time (s)"


def test_words_and_whom_a_rank_waits_for(two_ranks: Trace) -> None:
    found = words(timeline(two_ranks))
    assert "forward" in found
    assert "backward" in found
    assert "all_reduce #0" in found
    assert any(word in found for word in ("waits for rank 1", "for rank 1"))
    assert "done" in found


def test_narrow_areas_get_a_letter_or_nothing(two_ranks: Trace) -> None:
    ax = Figure(figsize=(1.5, 2)).subplots()
    found = words(timeline(two_ranks, ax=ax))
    assert "F" in found
    assert "backward" not in found


def test_no_word_is_wider_than_its_area(two_ranks: Trace) -> None:
    edges = {0: (0, 2, 5, 6, 8, 9, 10), 1: (0, 3, 7, 8, 10)}
    ax = timeline(two_ranks, messages=False)
    ax.figure.canvas.draw()
    assert len(ax.texts) >= 9
    for text in ax.texts:
        x, y = text.get_position()
        low, high = next((a, b) for a, b in pairwise(edges[0 if y < 1 else 1]) if a < x < b)
        box = text.get_window_extent().transformed(ax.transData.inverted())
        assert low <= box.x0 < box.x1 <= high, text.get_text()


def test_a_choice_of_ranks_in_the_order_asked_for(two_ranks: Trace) -> None:
    ax = timeline(two_ranks, ranks=[1])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["rank 1", "comm:0"]
    assert ax.get_title(loc="left").endswith("· 1 of them shown")
    assert [label.get_text() for label in timeline(two_ranks, ranks=[1, 0]).get_yticklabels()][:2] == [
        "rank 1",
        "rank 0",
    ]


def test_a_window_in_time(two_ranks: Trace) -> None:
    ax = timeline(two_ranks, start=2, end=6)
    assert ax.get_xlim() == (2, 6)
    assert [(a, b) for a, b, _ in areas(ax, "forward")] == [(2, 3)]


def test_given_axes_are_used(two_ranks: Trace) -> None:
    ax = Figure().subplots()
    assert timeline(two_ranks, ax=ax) is ax


def test_messages_are_arrows_if_they_are_few(two_ranks: Trace) -> None:
    def arrows(ax: Axes) -> int:
        return sum(getattr(text, "arrow_patch", None) is not None for text in ax.texts)

    assert arrows(timeline(two_ranks)) == 0  # it is a collective's
    assert arrows(timeline(two_ranks, messages=True)) == 1
    two_ranks.flow_rows.append((0, 1, 6.0, 6.0, 8.0, 1000, "tag 0"))
    assert arrows(timeline(two_ranks)) == 1
    assert arrows(timeline(two_ranks, messages=True)) == 2
    assert arrows(timeline(two_ranks, messages=False)) == 0
    assert arrows(timeline(two_ranks, ranks=[0])) == 0
    assert arrows(timeline(two_ranks, end=5.0)) == 0
    two_ranks.flow_rows *= 100
    assert arrows(timeline(two_ranks)) == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ranks": [2]}, r"there is no rank 2 to draw: the ranks of this run are 0..1."),
        ({"ranks": [-1]}, "there is no rank -1 to draw"),
        ({"ranks": []}, r"ranks=\[\] leaves nothing to draw; leave `ranks` out to see all."),
        ({"start": 3.0, "end": 3.0}, "a timeline from 3 s to 3 s has no width: `end` must be after `start`."),
        ({"start": 20.0}, "from 20 s to 10 s has no width"),
    ],
)
def test_wrong_use_is_explained(two_ranks: Trace, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        timeline(two_ranks, **options)


def test_very_many_ranks_are_a_choice_with_the_first_and_the_last() -> None:
    assert shown_ranks(MAX_RANKS, None) == list(range(MAX_RANKS))
    chosen = shown_ranks(1000, None)
    assert len(chosen) == len(set(chosen)) == MAX_RANKS
    assert (chosen[0], chosen[-1]) == (0, 999)
    assert shown_ranks(4, [3, 3, 1]) == [3, 1]


def test_streams_hang_under_their_rank() -> None:
    main, comm, other = layout([(0, "main"), (0, "comm:0"), (1, "main")])
    assert main.top == 0
    assert comm.height < main.height
    assert 0 < comm.top - (main.top + main.height) < other.top - (comm.top + comm.height)
    assert main.middle == main.height / 2


def test_streams_that_only_repeat_are_left_out_of_large_pictures() -> None:
    spans = [
        (rank, stream, "communication", "barrier #0", 0.0, 1.0, None)
        for rank in range(20)
        for stream in ("main", "comm:0")
    ]
    few = Trace([row for row in spans if row[0] < 2], world_size=2, end=1.0)
    many = Trace(spans, world_size=20, end=1.0)
    assert len(areas(timeline(few), "communication")) == 4
    assert len(areas(timeline(many), "communication")) == 20
    hidden = Trace([*spans, (3, "comm:0", "communication", "x #1", 1.0, 2.0, None)], world_size=20, end=2.0)
    assert len(areas(timeline(hidden), "communication")) == 41


def test_names_of_rows_do_not_overlap_for_64_ranks() -> None:
    trace = Trace([(rank, "main", "forward", "f", 0.0, 1.0, None) for rank in range(64)], world_size=64, end=1.0)
    ax = timeline(trace)
    ax.figure.canvas.draw()
    boxes = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
    assert len(boxes) >= 16
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))


def test_a_simulated_training_is_drawn() -> None:
    run = sd.run(train, 2, world_size=4, cluster="dgx-a100", device="meta")
    ax = run.timeline()
    pixels = drawn(ax)
    assert {"forward (F)", "backward (B)", "communication (C)"} <= set(legend(ax))
    assert sum(label.get_text().startswith("rank") for label in ax.get_yticklabels()) == 4
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 50


def drawn(ax: Axes) -> np.ndarray:
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())  # type: ignore[attr-defined]


def test_the_same_trace_gives_the_same_pixels(two_ranks: Trace) -> None:
    assert np.array_equal(drawn(timeline(two_ranks)), drawn(timeline(two_ranks)))


def test_fifty_thousand_spans_are_a_few_thousand_areas() -> None:
    kinds = ("launch", "forward", "launch", "backward", "communication")
    spans = [
        (rank, "main", kinds[i % 5], f"x #{i}", i * 1e-6, (i + 1) * 1e-6, None)
        for rank in range(8)
        for i in range(6250)
    ]
    trace = Trace(spans, world_size=8, end=6250e-6)
    began = time.process_time()
    ax = timeline(trace)
    drawn(ax)
    assert time.process_time() - began < 10  # about 1 s; a bound that only a wrong growth would break
    assert sum(len(areas(ax, str(c.get_label()))) for c in ax.collections) < 8 * 3000
    assert len(ax.collections) <= 2 * len(KINDS)


def test_a_run_without_spans_is_an_empty_picture() -> None:
    ax = timeline(Trace([], world_size=2, end=1.0))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["rank 0", "rank 1"]
    assert drawn(ax).shape[2] == 4


def test_a_run_in_which_nothing_happened_or_was_recorded_is_refused() -> None:
    with pytest.raises(TraceError, match="there is no timeline to draw: the run did nothing that takes time"):
        timeline(Trace([], world_size=2, end=0.0))
    with pytest.raises(TraceError, match=r"there is no timeline to draw: the run kept no trace \(traced=False\)"):
        timeline(Trace([], world_size=2, end=1.0, is_kept=False))


def test_spans_of_no_length_and_very_long_names_are_drawn() -> None:
    spans = [(0, "main", "compute", "x" * 300, 0.0, 0.0, None), (0, "main", "compute", "y" * 300, 0.0, 1.0, None)]
    ax = timeline(Trace(spans, world_size=1, end=1.0, meta={"name": "n" * 300}))
    assert drawn(ax).shape[2] == 4 and words(ax) == ["X"]
    assert "…: 1 rank" in ax.get_title(loc="left")
