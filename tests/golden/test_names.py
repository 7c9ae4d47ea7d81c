"""Every public name of torch.distributed in PyTorch 2.13: ours, or left out for a reason that the documents tell."""

from pathlib import Path

import pytest

import simdist.distributed as dist
from tests.golden.recording import RECORDED

DOCUMENT = (Path(__file__).parents[2] / "docs" / "collectives.md").read_text()
OPTIONS = "how torch's own functions hand their arguments to C++"
LATER = "comes with the package it belongs to"
LEFT_OUT = {
    "AllToAllOptions": OPTIONS,
    "AllreduceCoalescedOptions": OPTIONS,
    "AllreduceOptions": OPTIONS,
    "BarrierOptions": OPTIONS,
    "BroadcastOptions": OPTIONS,
    "GatherOptions": OPTIONS,
    "ReduceOptions": OPTIONS,
    "ReduceScatterOptions": OPTIONS,
    "ScatterOptions": OPTIONS,
    "BackendConfig": "one backend carries a run, not one for each device",
    "GroupName": "a type that is a text",
    "ProcessGroupGloo": "one class of torch's for each backend; here groups are one class",
    "Logger": "what a run tells is in its report and its trace",
    "Reducer": "a part of DistributedDataParallel that has no public use",
    "BuiltinCommHookType": LATER,
    "GradBucket": LATER,
    "DeviceMesh": LATER,
    "init_device_mesh": LATER,
    "DebugLevel": "sd.run(checked=) says it",
    "get_debug_level": "sd.run(checked=) says it",
    "set_debug_level": "sd.run(checked=) says it",
    "set_debug_level_from_env": "sd.run(checked=) says it",
    "breakpoint": "a debugger would stop all simulated ranks, whose clock is not the person's",
    "record_comm": "the trace records every communication",
    "shrink_group": "elastic groups are not built",
}


@pytest.mark.parametrize("name", RECORDED["public_names"])
def test_every_name_is_there_or_left_out(name):
    assert hasattr(dist, name) != (name in LEFT_OUT)


def test_what_is_left_out_is_torch_s_and_told():
    assert not set(LEFT_OUT) - set(RECORDED["public_names"])
    families = ("Options",)
    assert not [n for n in LEFT_OUT if f"`{n}`" not in DOCUMENT and not n.endswith(families)]


def test_every_name_of_ours_is_torch_s():
    ours = {"ReduceOp", "_make_nccl_premul_sum", "_all_gather_base", "_reduce_scatter_base"}  # torch has them, unlisted
    assert not set(dist.__all__) - set(RECORDED["public_names"]) - ours
