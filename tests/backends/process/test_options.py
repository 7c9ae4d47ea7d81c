from __future__ import annotations

import dataclasses
import pickle

import pytest

from simdist.backends.process.options import WIRES, ProcessOptions, ProcessOutcome


def test_defaults() -> None:
    options = ProcessOptions()
    assert (options.timeout, options.seed, options.checked, options.device) == (300.0, 0, True, "real")
    assert (options.cluster, options.eager_limit, options.wire, options.extra) == (None, 0, "auto", {})


def test_options_are_frozen_and_travel() -> None:
    options = ProcessOptions(timeout=None, cluster="dgx-a100", extra={"a": 1})
    assert pickle.loads(pickle.dumps(options)) == options
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.seed = 1  # type: ignore[misc]


def test_every_wire_is_explained() -> None:
    assert set(WIRES) == {"auto", "unix", "tcp"}
    assert all(WIRES.values())


def test_an_outcome_is_three_lists() -> None:
    outcome = ProcessOutcome([1], [0.5], [None])
    assert outcome == ([1], [0.5], [None])
