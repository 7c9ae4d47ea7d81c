import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import ReductionError


def test_which_backends_there_are():
    answers = [dist.is_gloo_available(), dist.is_nccl_available(), dist.is_ucc_available(), dist.is_xccl_available()]
    assert answers == [True, False, False, False]
    names = ["gloo", "sim", "process", "NCCL", "nope", "mpi"]
    assert [dist.is_backend_available(name) for name in names] == [
        True,
        True,
        True,
        False,
        False,
        dist.is_mpi_available(),
    ]
    assert dist.get_default_backend_for_device("cpu") == "sim"


def test_started_by_an_elastic_launcher(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    assert not dist.is_torchelastic_launched()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "7")
    assert dist.is_torchelastic_launched()


@pytest.mark.parametrize("op", list(dist.ReduceOp))
def test_complex_numbers_are_supported_where_they_can_be_reduced(op):
    given = dist._make_nccl_premul_sum(2.0) if op is dist.ReduceOp.PREMUL_SUM else op

    def program(rank, world_size):
        try:
            dist.all_reduce(np.ones(1, complex), given)
        except ReductionError:
            return False
        return True

    assert sd.run(program, world_size=1).results == [dist.supports_complex(op)] == [dist.supports_complex(given)]


def test_groups_and_places():
    def program(rank, world_size):
        part = dist.new_group([0])
        counted = dist.get_pg_count()
        dist.destroy_process_group(part)
        return counted, dist.get_pg_count(), dist.get_node_local_rank(), dist.get_backend_config()

    results = sd.run(program, world_size=10, cluster="dgx-a100").results
    assert [row[0] for row in results] == [2, *[1] * 9]
    assert [row[2] for row in results] == [*range(8), 0, 1]
    assert {row[1::2] for row in results} == {(1, "cpu:sim")}


def test_the_launcher_s_word_counts_on_real_processes(monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "5")

    def program(rank, world_size):
        return dist.get_node_local_rank(fallback_rank=3), dist.get_default_backend_for_device("cuda")

    assert sd.run(program, world_size=2, backend="process").results == [(5, "process")] * 2
    assert sd.run(program, world_size=2).results == [(0, "sim"), (1, "sim")]


def test_nothing_is_known(monkeypatch):
    def program(rank, world_size):
        from simdist.backends import context
        from simdist.comm.choose import Chooser

        context.current().chooser = Chooser(None)
        with pytest.raises(RuntimeError, match=r"nothing says which ranks are on one node\. Give sd\.run\(cluster="):
            dist.get_node_local_rank()
        return dist.get_node_local_rank(fallback_rank=3)

    assert sd.run(program, world_size=1).results == [3]
