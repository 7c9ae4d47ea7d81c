"""Does the ring's formula describe measured all-reduces to 2 %, and is the rest told as it is?"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from simdist.validate import nccl
from simdist.validate.curve import curves
from simdist.validate.nccl import BANDS, BAR, NcclValidation
from simdist.validate.ring_fit import fit

DOCS = Path(__file__).parents[2] / "docs" / "validation.md"


@pytest.fixture(scope="module")
def found() -> NcclValidation:
    return nccl()


def test_every_curve_keeps_the_bar_on_sizes_that_the_fit_has_not_seen(found: NcclValidation) -> None:
    assert BAR == 0.02 and found.passed
    assert [row.name for row in found.fits] == [curve.name for curve in curves()]
    for row, curve in zip(found.fits, curves(), strict=True):
        unseen = curve.half(odd=True)
        errors = np.abs(fit([curve.half(odd=False)]).errors(unseen))
        assert row.mean == errors.mean() <= 0.02
        assert row.largest == errors.max()


def test_the_parameters_are_sensible(found: NcclValidation) -> None:
    bandwidths = {row.name: row.found.bandwidth for row in found.fits}
    assert bandwidths == pytest.approx(
        {"a100 x 2": 193e9, "a100 x 4": 218e9, "a100 x 8": 227e9, "v100 x 2": 22.6e9, "v100 x 4": 85.8e9, "v100 x 8": 136e9},
        rel=0.005,
    )  # fmt: skip
    assert all(1e-6 < row.found.latency < 50e-6 for row in found.fits)


def test_the_simulator_with_these_numbers_gives_the_formula_s_times(found: NcclValidation) -> None:
    assert all(row.simulated < 1e-12 for row in found.fits)


def test_the_error_of_each_range_of_sizes_is_told(found: NcclValidation) -> None:
    assert BANDS[0][0] == 2**20 and BANDS[-1][1] > 2**30
    assert all(high == low for (_, high), (low, _) in pairwise(BANDS))
    assert all(len(row.bands) == len(BANDS) for row in found.fits)
    assert max(row.bands[0] for row in found.fits) > 0.1  # small sizes are where the line misses


def test_every_fit_is_carried_to_every_other_number_of_ranks(found: NcclValidation) -> None:
    assert len(found.carried) == 2 * (3 * 2 + 3)
    worst = {(row.machine, row.fitted, row.used): row for row in found.carried}
    assert worst["v100", (2,), 8].bias == pytest.approx(4.92, abs=0.01)
    assert worst["v100", (8,), 2].bias < -0.8
    assert worst["a100", (8,), 4].mean < 0.06
    assert all(row.used not in row.fitted for row in found.carried)


def test_presets_are_told_as_they_are(found: NcclValidation) -> None:
    ratios = {(row.preset, row.nbytes): row.simulated / row.measured for row in found.presets}
    assert 0.7 < ratios["dgx-a100", 1 << 30] < 0.8
    assert ratios["dgx1-v100", 1 << 30] > 5


def test_a_curve_beyond_the_bar_does_not_pass(found: NcclValidation) -> None:
    spoiled = NcclValidation((found.fits[0]._replace(mean=0.0201), *found.fits[1:]), found.carried, found.presets)
    assert not spoiled.passed
    assert "judged by the others: NOT all within 2% in the mean" in str(spoiled)


def test_the_docs_show_what_it_prints(found: NcclValidation) -> None:
    assert f"```text\n{found}\n```" in DOCS.read_text(encoding="utf-8")
