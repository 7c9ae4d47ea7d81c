from __future__ import annotations

import json

import pytest

from simdist.validate import nccl


def test_the_tables_are_printed(call) -> None:
    shown = call("validate", "nccl")
    assert shown.exit_code == 0
    assert shown.output == f"{nccl()}\n"
    assert "all within 2% in the mean" in shown.output


def test_as_json(call) -> None:
    found = json.loads(call("validate", "nccl", "--json").output)
    assert found["passed"] is True
    assert len(found["fits"]) == 6 and len(found["carried"]) == 18 and len(found["presets"]) == 8
    assert found["fits"][0]["bandwidth"] == pytest.approx(193e9, rel=0.005)


def test_a_curve_beyond_the_bar_is_exit_code_1(call, monkeypatch: pytest.MonkeyPatch) -> None:
    from simdist import validate
    from simdist.validate.nccl import NcclValidation

    good = nccl()
    bad = NcclValidation((good.fits[0]._replace(mean=0.5),), (), ())
    monkeypatch.setattr(validate, "nccl", lambda: bad)
    assert call("validate", "nccl", "--json").exit_code == 1
