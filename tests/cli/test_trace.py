from __future__ import annotations

import json
from pathlib import Path

import pytest

import simdist as sd
from simdist.cli.program import load


@pytest.fixture
def saved(program: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    sd.run(load(f"{program}:total"), world_size=3).save_trace(path)
    return path


def test_what_is_in_it(call, saved: Path) -> None:
    shown = call("trace", saved)
    assert shown.exit_code == 0, shown.output
    assert "world_size  3" in shown.output


def test_the_same_as_json(call, saved: Path, program: Path) -> None:
    facts = json.loads(call("trace", saved, "--json").output)
    run = sd.run(load(f"{program}:total"), world_size=3)
    assert facts["world_size"] == 3
    assert facts["time"] == run.time
    assert facts["messages"] == len(run.trace.flows())
    assert facts["bytes_sent"] > 0


def test_the_report_has_the_collectives_of_the_run(call, saved: Path, program: Path) -> None:
    report = sd.run(load(f"{program}:total"), world_size=3).report().splitlines()
    at = next(index for index, line in enumerate(report) if line.startswith("collectives "))
    shown = call("trace", saved, "--report").output.splitlines()
    assert shown[-2:] == report[at : at + 2]
    assert shown[-1].split()[:3] == ["all_reduce", "1", "3"]


def test_a_good_trace_passes_the_check(call, saved: Path) -> None:
    shown = call("trace", saved, "--check")
    assert (shown.exit_code, shown.output) == (0, f"{saved}: a valid trace\n")
    assert json.loads(call("trace", saved, "--check", "--json").output) == {
        "file": str(saved), "valid": True, "problems": [],
    }  # fmt: skip


def test_a_bad_trace_does_not(call, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"traceEvents": [{"ph": "X", "name": "a", "pid": 0, "tid": 0, "ts": -1}]}))
    shown = call("trace", path, "--check")
    assert shown.exit_code == 1
    assert shown.stdout.strip()
    assert json.loads(call("trace", path, "--check", "--json").output)["valid"] is False


def test_the_report_and_one_moment(call, saved: Path) -> None:
    shown = call("trace", saved, "--report", "--at", "1e-6")
    assert shown.exit_code == 0, shown.output
    assert "communication" in shown.output or "wait" in shown.output
    facts = json.loads(call("trace", saved, "--report", "--at", "1e-6", "--json").output)
    assert facts["report"] in shown.output
    assert facts["at"] in shown.output


def test_a_moment_outside_the_run_is_wrong_use(call, saved: Path) -> None:
    shown = call("trace", saved, "--at", "1e9")
    assert shown.exit_code == 2
    assert "--at 1e+09 is outside the run: it goes from 0 to" in shown.stderr


def test_the_timeline_is_drawn(call, saved: Path, tmp_path: Path) -> None:
    picture = tmp_path / "timeline.png"
    shown = call("trace", saved, "--timeline", picture, "--report")
    assert shown.exit_code == 0
    assert f"timeline: {picture}" in shown.output
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_a_missing_file_says_how_to_make_one(call) -> None:
    shown = call("trace", "nothing.json")
    assert shown.exit_code == 2
    assert "there is no file 'nothing.json'. A run saves one with run.save_trace('nothing.json')." in shown.stderr


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"a": 1}', '{"traceEvents": [{"ph": "X"}]}'])
def test_a_file_of_another_kind_is_wrong_use(call, tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    shown = call("trace", path)
    assert shown.exit_code == 2, shown.output
    assert "is not a trace that simdist wrote" in shown.stderr
    assert "--check" in shown.stderr
