"""Where a program runs: simulated at every network level, and on real processes."""

import pytest

from simdist.sim import LEVELS


@pytest.fixture(params=[*LEVELS, "process"])
def where(request):
    """Options of ``sd.run``."""
    return {"backend": "process"} if request.param == "process" else {"network": request.param}
