"""Do pictures say under which assumptions they were made, and in which units?"""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from simdist.plot.caption import bytes_axis, bytes_text, fold, time_axis, time_text, title
from simdist.trace import Trace


def test_the_title_names_program_ranks_cluster_network_and_time(two_ranks: Trace) -> None:
    assert title(two_ranks) == "train: 2 ranks · simulated on dgx-a100 (network: messages) · 10 s"


def test_more_words_come_last(two_ranks: Trace) -> None:
    assert title(two_ranks, "1 of them shown").endswith(" · 10 s · 1 of them shown")


def test_a_measured_run_names_no_cluster() -> None:
    trace = Trace([], world_size=1, end=3e-6, meta={"name": "f", "backend": "process", "cluster": "dgx-a100"})
    assert title(trace) == "f: 1 rank · measured on real processes (process) · 3 µs"


def test_a_trace_without_words() -> None:
    assert title(Trace([], world_size=3, end=0.0)) == "run: 3 ranks · simulated · 0 s"


def test_long_titles_are_broken_between_their_parts() -> None:
    assert fold("one · two · three", 99) == "one · two · three"
    assert fold("one · two · three", 9) == "one · two\nthree"
    assert fold("one · two · three", 2) == "one\ntwo\nthree"


def test_a_name_that_no_line_can_hold_is_cut() -> None:
    assert (
        fold(f"{'n' * 99}: simulated on x (network: y) · 1 s", 60) == f"{'n' * 18}…: simulated on x (network: y) · 1 s"
    )
    assert fold("a_name_of_22_letters_xx: 2 ranks", 20) == "a_name_of_2…: 2 ranks"


def test_numbers_for_a_person() -> None:
    assert time_text(2e-6) == "2 µs"
    assert time_text(0.25) == "250 ms"
    assert bytes_text(2.5e9) == "2.5 GB"


@pytest.mark.parametrize(
    ("extent", "value", "label", "unit"),
    [(2.0, 1.5, "1.5", "s"), (3e-3, 1e-3, "1", "ms"), (5e-6, 2.5e-6, "2.5", "µs"), (0.0, 0.0, "0", "ps")],
)
def test_ticks_have_the_unit_and_data_stay_in_seconds(extent: float, value: float, label: str, unit: str) -> None:
    ax = Figure().subplots()
    time_axis(ax.xaxis, extent)
    assert ax.get_xlabel() == f"time ({unit})"
    assert ax.xaxis.get_major_formatter()(value, 0) == label


def test_bytes_have_decimal_units() -> None:
    ax = Figure().subplots()
    bytes_axis(ax.yaxis, 8e10, "memory")
    assert ax.get_ylabel() == "memory (GB)"
    assert ax.yaxis.get_major_formatter()(4e10, 0) == "40"
