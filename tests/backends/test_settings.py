import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import simdist as sd
from simdist.backends.settings import MemoryUse, Outcome, Settings
from simdist.cluster import presets


def test_they_are_frozen_values():
    settings = Settings(2, presets.get("laptop"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.seed = 1
    assert (settings.network, settings.device, settings.checked, settings.eager_limit) == ("messages", "real", True, 0)
    assert dataclasses.is_dataclass(Outcome)
    assert MemoryUse(0, 10.0, 5, 1.0, {}, {}).capacity == 10.0


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"world_size": 0}, "world_size must be a whole number of at least 1, got 0."),
        ({"world_size": True}, "world_size must be a whole number of at least 1, got True."),
        ({"world_size": 2.0}, "world_size must be a whole number of at least 1, got 2.0."),
        ({"seed": "a"}, "seed must be a whole number, got 'a'."),
        ({"eager_limit": -1}, "eager_limit must be a whole number of at least 0, got -1."),
        ({"timeout": -1}, "timeout must be a finite number above 0, got -1."),
        ({"timeout": float("nan")}, "timeout must be a finite number above 0, got nan."),
        ({"timeout": True}, "timeout must be a finite number above 0, got True."),
        ({"watchdog": 0}, "watchdog must be a finite number above 0, got 0."),
        ({"jitter": -0.1}, "jitter must be a finite number of at least 0, got -0.1."),
        ({"stragglers": {0: 0.0}}, "stragglers[0] must be a finite number above 0, got 0.0."),
        ({"stragglers": {2: 2.0}}, "stragglers names rank 2, but the ranks are 0..1."),
        ({"stragglers": {-1: 2.0}}, "a rank in stragglers must be a whole number of at least 0, got -1."),
    ],
)
@pytest.mark.parametrize("backend", ["sim", "process"])
def test_values_that_mean_nothing_are_refused(settings: dict[str, Any], text: str, backend: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        sd.run(lambda rank, world_size: None, **{"world_size": 2, "backend": backend} | settings)


def test_numpy_s_integers_are_whole_numbers() -> None:
    run = sd.run(lambda rank, world_size: world_size, world_size=np.int64(2), seed=np.int32(3))
    assert run.results == [2, 2] and type(run.world_size) is int
