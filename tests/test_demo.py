"""The main job, end to end, and its honest twin: when one number differs, the demo says so."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simdist import demo
from simdist.tensor import tensor


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[demo.Demo, str, Path]:
    out = tmp_path_factory.mktemp("demo") / "out"
    lines: list[str] = []
    outcome = demo.show(out, say=lines.append)
    return outcome, "\n".join(lines), out


@pytest.mark.process
@pytest.mark.slow
def test_it_learns_to_read_digits(told: tuple[demo.Demo, str, Path]) -> None:
    assert told[0].accuracy >= 0.95


@pytest.mark.process
@pytest.mark.slow
def test_simulated_and_real_weights_agree_bit_for_bit(told: tuple[demo.Demo, str, Path]) -> None:
    assert told[0].identical
    assert told[0].num_weights == 64 * 128 + 128 + 128 * 10 + 10
    assert "all 9,610 weights of all 4 ranks agree bit for bit" in told[1]


@pytest.mark.process
@pytest.mark.slow
def test_the_three_files_are_there(told: tuple[demo.Demo, str, Path]) -> None:
    out = told[2]
    assert sorted(path.name for path in out.iterdir()) == ["speedup.png", "timeline.png", "trace.json"]
    for name in ("speedup.png", "timeline.png"):
        assert (out / name).read_bytes()[:4] == b"\x89PNG"
    assert json.loads((out / "trace.json").read_text())["traceEvents"]


@pytest.mark.process
@pytest.mark.slow
def test_the_curve_begins_at_one_and_bends(told: tuple[demo.Demo, str, Path]) -> None:
    speedup = told[0].speedup
    assert len(speedup) == len(demo.WORLD_SIZES)
    assert speedup[0] == 1.0
    assert all(0 < value <= size * (1 + 1e-9) for value, size in zip(speedup, demo.WORLD_SIZES, strict=True))
    assert speedup[1] > 1.5, "the wide network is worth a second accelerator"


@pytest.mark.process
@pytest.mark.slow
def test_the_story_shows_the_function(told: tuple[demo.Demo, str, Path]) -> None:
    assert "def train(rank: int, world_size: int" in told[1]
    assert "loss.backward()" in told[1]


def run_with(*weights: np.ndarray) -> Any:
    return SimpleNamespace(world_size=len(weights), results=[{"weights": {"w": tensor(weight)}} for weight in weights])


def test_identical_means_every_bit_of_every_rank() -> None:
    one = np.array([1.0, 2.0])
    last_bit = np.nextafter(one, 3.0)
    assert demo.identical_weights(run_with(one, one), run_with(one, one))
    assert not demo.identical_weights(run_with(one, one), run_with(one, last_bit))
    assert not demo.identical_weights(run_with(one, one), run_with(one))
    assert not demo.identical_weights(run_with(one), run_with(one.reshape(2, 1)))
    assert not demo.identical_weights(run_with(one), run_with(one.astype(np.float32)))


def test_minus_zero_is_not_zero() -> None:
    assert not demo.identical_weights(run_with(np.array([0.0])), run_with(np.array([-0.0])))
