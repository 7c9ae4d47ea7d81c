import datetime

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import DistTimeoutError


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_everybody_comes(backend):
    assert (
        sd.run(lambda rank, world_size: dist.monitored_barrier(), world_size=3, backend=backend).results == [None] * 3
    )


@pytest.mark.parametrize("backend", ["sim", "process"])
@pytest.mark.parametrize(("wait_all", "named"), [(False, "rank 1 did"), (True, "rank 1, 2 did")])
def test_who_does_not_come_is_named(backend, wait_all, named):
    def program(rank, world_size):
        if rank in (1, 2):
            sd.sleep(1.5)
            return "late"
        with pytest.raises(DistTimeoutError) as found:
            dist.monitored_barrier(timeout=datetime.timedelta(seconds=0.5), wait_all_ranks=wait_all)
        return str(found.value)

    results = sd.run(program, world_size=4, backend=backend).results
    assert named in results[0]
    assert results[3] == results[0].replace("rank 0:", "rank 3:")
    assert results[1:3] == ["late", "late"]
