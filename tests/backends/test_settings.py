import dataclasses

import pytest

from simdist.backends.settings import MemoryUse, Outcome, Settings
from simdist.cluster import presets


def test_they_are_frozen_values():
    settings = Settings(2, presets.get("laptop"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.seed = 1
    assert (settings.network, settings.device, settings.checked, settings.eager_limit) == ("messages", "real", True, 0)
    assert dataclasses.is_dataclass(Outcome)
    assert MemoryUse(0, 10.0, 5, 1.0, {}, {}).capacity == 10.0
