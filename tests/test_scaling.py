"""Are times on several numbers of ranks turned into the right speed-ups, laws and words?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simdist as sd
from simdist.cost.speedup import ScalingError
from simdist.errors import UnknownNameError
from simdist.scaling import Scaling

SIZES = (1, 2, 4, 8)
PERFECT = (8.0, 4.0, 2.0, 1.0)
QUARTER_SERIAL = tuple(4.0 * (0.25 + 0.75 / size) for size in SIZES)


def test_perfect_strong_scaling() -> None:
    scaling = Scaling(SIZES, PERFECT, "strong", "train", "dgx-a100")
    assert scaling.speedup == [1, 2, 4, 8]
    assert scaling.efficiency == [1, 1, 1, 1]
    assert scaling.serial_fraction == pytest.approx(0, abs=1e-12)
    assert scaling.limit == float("inf")
    assert scaling.verdict == "serial fraction 0.0% (Amdahl's law): no limit in sight."


def test_a_quarter_of_serial_work_limits_the_speed_up_to_4() -> None:
    scaling = Scaling(SIZES, QUARTER_SERIAL)
    assert scaling.speedup == pytest.approx([1, 1 / 0.625, 1 / 0.4375, 1 / 0.34375])
    assert scaling.serial_fraction == pytest.approx(0.25)
    assert scaling.limit == pytest.approx(4)
    assert scaling.law(16) == pytest.approx(1 / (0.25 + 0.75 / 16))
    assert scaling.verdict == "serial fraction 25.0% (Amdahl's law): no number of ranks gives more than 4x."


def test_times_that_do_not_fall_are_all_serial() -> None:
    scaling = Scaling((1, 2, 4), (1.0, 1.0, 1.05))
    assert scaling.serial_fraction == pytest.approx(1)
    assert scaling.verdict == "serial fraction 100.0% (Amdahl's law): more ranks do not help."


def test_a_law_that_the_times_miss_sets_no_limit() -> None:
    scaling = Scaling((1, 2, 4, 8, 16), (188.0, 97.0, 51.0, 27.0, 40.0))
    assert "but the times miss that law by" in scaling.verdict
    assert scaling.verdict.endswith("is no fixed share, it changes with their number.")


def test_weak_scaling_is_scaled_speed_up() -> None:
    scaling = Scaling(SIZES, (1.0, 1.0, 1.25, 2.0), "weak")
    assert scaling.efficiency == [1, 1, 0.8, 0.5]
    assert scaling.speedup == pytest.approx([1, 2, 3.2, 4])
    assert scaling.fit is None
    assert scaling.serial_fraction == pytest.approx((0.8 * 3 + 4 * 7) / (1 + 9 + 49))
    assert scaling.law(1) == 1
    assert "Gustafson" in scaling.verdict
    assert scaling.limit == float("inf")


def test_the_first_size_need_not_be_one() -> None:
    scaling = Scaling((2, 4), (2.0, 1.0))
    assert scaling.speedup == [2, 4]
    assert scaling.law(2) == pytest.approx(2)
    assert scaling.law(8) == pytest.approx(8)


def test_one_size_has_no_law() -> None:
    for mode in ("strong", "weak"):
        scaling = Scaling((4,), (2.0,), mode)
        assert scaling.speedup == [4]
        assert (scaling.serial_fraction, scaling.fit, scaling.law(2), scaling.verdict) == (None, None, None, "")
        assert scaling.limit == float("inf")
        assert len(str(scaling).splitlines()) == 3


def test_the_table() -> None:
    assert str(Scaling(SIZES, QUARTER_SERIAL, "strong", "train", "dgx-a100")).splitlines() == [
        "train: strong scaling (the whole work stays the same) on dgx-a100",
        " ranks       time  speed-up  efficiency",
        "     1        4 s     1.00x      100.0%",
        "     2      2.5 s     1.60x       80.0%",
        "     4     1.75 s     2.29x       57.1%",
        "     8     1.38 s     2.91x       36.4%",
        "serial fraction 25.0% (Amdahl's law): no number of ranks gives more than 4x.",
    ]


def test_without_a_cluster_the_table_names_none() -> None:
    assert str(Scaling((1, 2), (2.0, 1.0), "weak")).startswith("run: weak scaling (each rank's work stays the same)\n")


def test_it_is_a_value() -> None:
    scaling = Scaling((1, 2), (2.0, 1.0))
    assert scaling == Scaling((1, 2), (2.0, 1.0))
    with pytest.raises(AttributeError):
        scaling.mode = "weak"  # type: ignore[misc]


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"there is no scaling mode named 'strnog'. Did you mean 'strong'\?"):
        Scaling((1, 2), (2.0, 1.0), "strnog")


@pytest.mark.parametrize(
    ("sizes", "times", "text"),
    [
        ((1, 2), (1.0,), "each number of devices needs its time: got 2 sizes and 1 times."),
        ((), (), "got 0 sizes and 0 times"),
        ((1, 2), (1.0, 0.0), "a run on 2 devices took 0.0 s: both must be above zero. Leave this run out."),
    ],
)
def test_times_that_say_nothing_are_refused(sizes: tuple[int, ...], times: tuple[float, ...], text: str) -> None:
    with pytest.raises(ScalingError, match=text):
        Scaling(sizes, times)


@given(st.floats(0.001, 0.999), st.floats(1e-9, 1e3))
def test_amdahls_times_give_back_their_fraction(share: float, single: float) -> None:
    scaling = Scaling(SIZES, tuple(single * (share + (1 - share) / size) for size in SIZES))
    assert scaling.serial_fraction == pytest.approx(share, rel=1e-6)
    assert [scaling.law(size) for size in SIZES] == pytest.approx(scaling.speedup)
    assert scaling.limit == pytest.approx(1 / share, rel=1e-6)


# -- filled by sd.speedup ---------------------------------------------------------------------------------------------


def shared_work(rank: int, world_size: int, seconds: float = 8.0) -> None:
    sd.compute(seconds=seconds / world_size)


def own_work(rank: int, world_size: int, batch_size: int = 8) -> None:
    sd.compute(seconds=batch_size / world_size)


def test_sd_speedup_strong() -> None:
    scaling = sd.speedup(shared_work, world_sizes=[1, 2, 4], cluster="dgx-a100")
    assert isinstance(scaling, Scaling)
    assert (scaling.world_sizes, scaling.mode, scaling.name) == ((1, 2, 4), "strong", "shared_work")
    assert scaling.speedup == pytest.approx([1, 2, 4])
    assert "dgx-a100" in scaling.cluster


def test_sd_speedup_weak_multiplies_the_named_argument() -> None:
    scaling = sd.speedup(own_work, world_sizes=[1, 2, 4], mode="weak", scaled="batch_size", kwargs={"batch_size": 3})
    assert scaling.times == pytest.approx((3, 3, 3))
    assert scaling.efficiency == pytest.approx([1, 1, 1])
    assert scaling.speedup == pytest.approx([1, 2, 4])
    assert scaling.serial_fraction == pytest.approx(0, abs=1e-12)


def test_sd_speedup_weak_with_a_function_that_keeps_its_own_work() -> None:
    scaling = sd.speedup(lambda rank, world_size: sd.compute(seconds=2.0), world_sizes=[1, 3], mode="weak")
    assert scaling.times == pytest.approx((2, 2))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"world_sizes": [4, 2]}, ValueError, r"world_sizes must rise, got \[4, 2\]"),
        ({"mode": "wide"}, UnknownNameError, "there is no scaling mode named 'wide'"),
        ({"mode": "weak", "scaled": "rows"}, ValueError, "scaled='rows' needs mode='weak' and a start value"),
        ({"scaled": "seconds", "kwargs": {"seconds": 1.0}}, ValueError, "needs mode='weak'"),
    ],
)
def test_sd_speedup_explains_wrong_use(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        sd.speedup(shared_work, **options)
