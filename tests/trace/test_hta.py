from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path
from typing import Any

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.trace import Trace, hta
from simdist.trace.breakdown import Breakdown, breakdown
from simdist.trace.validate import validate
from tests.trace.programs import PROGRAMS, chain, overlap, straggler

WORK = ("forward", "backward", "optimizer", "compute")


def events(trace: Trace, rank: int, category: str) -> list[dict[str, Any]]:
    rows = [row for row in trace.span_rows if row[0] == rank]
    return [e for e in hta.events(rank, trace.world_size, rows) if e.get("cat") == category]


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_valid_file_per_rank(program, tmp_path: Path) -> None:
    folder = hta.write(program(), tmp_path / "new" / "folder")
    assert [path.name for path in sorted(folder.iterdir())] == ["rank-0.json", "rank-1.json"]
    for rank, path in enumerate(sorted(folder.iterdir())):
        assert validate(path) == []
        assert json.loads(path.read_text())["distributedInfo"] == {"backend": "nccl", "rank": rank, "world_size": 2}


def test_ranks_of_an_earlier_run_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("rank-7.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    hta.write(chain(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "rank-0.json", "rank-1.json"]


def test_work_and_communication_are_kernels_on_their_streams() -> None:
    kernels = [(e["name"], e["args"]["stream"], e["ts"], e["dur"]) for e in events(overlap(), 0, "kernel")]
    assert kernels == [
        ("linear", 7, 0, 10**9),
        ("linear", 7, 10**9, 10**9),
        ("linear", 7, 2 * 10**9, 10**9),
        ("ncclDevKernel_AllReduce", 21, 2 * 10**9, 1_500_000_000),
        ("sgd", 7, 3_625_000_000, 250_000_000),
    ]


def test_a_launch_is_a_call_joined_to_its_kernel() -> None:
    (call,) = (e for e in events(overlap(), 0, "cuda_runtime") if e["dur"])
    (kernel,) = (e for e in events(overlap(), 0, "kernel") if e["name"] == "sgd")
    assert (call["name"], call["ts"], call["dur"]) == ("cudaLaunchKernel", 3_500_000_000, 125_000_000)
    assert call["args"]["correlation"] == kernel["args"]["correlation"]
    assert [e["name"] for e in events(overlap(), 0, "cpu_op") if e["dur"]] == ["sgd"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_kernel_has_its_call(program) -> None:
    for rank in (0, 1):
        kernels = [e["args"]["correlation"] for e in events(program(), rank, "kernel")]
        assert sorted(kernels) == sorted(e["args"]["correlation"] for e in events(program(), rank, "cuda_runtime"))
        assert len(kernels) == len(set(kernels))


def test_waiting_is_no_kernel() -> None:
    assert [e["name"] for e in events(straggler(), 0, "kernel")] == ["short", "ncclDevKernel_AllReduce"]


def test_a_message_in_which_the_program_blocks() -> None:
    assert [(e["name"], e["args"]["stream"]) for e in events(chain(), 1, "kernel")] == [
        ("ncclDevKernel_SendRecv", 20), ("use", 7),
    ]  # fmt: skip


def _step(rank: int, world_size: int) -> None:
    values = [sd.tensor([1.0] * 200_000) for _ in range(3)]
    for _ in range(2):
        works = []
        for number, value in enumerate(values):
            sd.compute(seconds=2e-5 * (number + 1), name="backward")
            works.append(dist.all_reduce(value, async_op=True))
        for work in works:
            work.wait()
        dist.barrier()


@pytest.fixture(scope="module", params=["straggler", "overlap", "run"])
def analysed(request, tmp_path_factory) -> tuple[Trace, Any]:
    """A trace, and what HTA makes of it: its files are read as they are, by its default settings."""
    by_name = {"straggler": straggler, "overlap": overlap}
    trace = (
        by_name[request.param]() if request.param in by_name else sd.run(_step, world_size=2, cluster="pc-10gbe").trace
    )
    folder = hta.write(trace, tmp_path_factory.mktemp("hta"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, and those of the libraries it draws with
        from hta.trace_analysis import TraceAnalysis

        logging.getLogger("hta").setLevel(logging.ERROR)
        analysis = TraceAnalysis(trace_dir=str(folder))
        return trace, {
            "temporal": analysis.get_temporal_breakdown(visualize=False).set_index("rank"),
            "overlap": analysis.get_comm_comp_overlap(visualize=False).set_index("rank"),
            "kernels": analysis.get_gpu_kernel_breakdown(visualize=False)[0].set_index("kernel_type"),
        }


def _hidden_beside_kernels(trace: Trace) -> Breakdown:
    """Our breakdown, with launches counted as HTA counts them: no work of the accelerator."""
    rows = [(*row[:2], "sleep" if row[2] == "launch" else row[2], *row[3:]) for row in trace.span_rows]
    return breakdown(Trace(rows, world_size=trace.world_size, end=trace.end))


def test_hta_finds_our_computing_time(analysed) -> None:
    trace, found = analysed
    for rank, parts in enumerate(breakdown(trace).parts):
        ours = sum(parts.get(kind, 0.0) for kind in WORK)
        assert found["temporal"].loc[rank, "compute_time(us)"] == pytest.approx(ours * 1e9, abs=2)


def test_hta_finds_our_overlap(analysed) -> None:
    trace, found = analysed
    ours = _hidden_beside_kernels(trace)
    for rank in range(trace.world_size):
        share = 100 * ours.hidden[rank] / ours.communication[rank]
        assert found["overlap"].loc[rank, "comp_comm_overlap_pctg"] == pytest.approx(share, abs=0.011)


def test_hta_finds_our_communication_exposed_and_hidden(analysed) -> None:
    trace, found = analysed
    ours = _hidden_beside_kernels(trace)
    sums = found["kernels"]["sum"].to_dict()
    hidden = sums.get("COMPUTATION overlapping COMMUNICATION", 0)
    assert hidden == pytest.approx(sum(ours.hidden) * 1e9, rel=1e-4, abs=4)
    assert sums["COMMUNICATION"] + hidden == pytest.approx(sum(ours.communication) * 1e9, rel=1e-4, abs=4)
