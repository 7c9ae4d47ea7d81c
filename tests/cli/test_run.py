from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def test_a_run_is_a_table_of_ranks(call, program: Path) -> None:
    shown = call("run", f"{program}:total", "-n", 3)
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert lines[0].split() == ["rank", "time", "(simulated)", "result"]
    assert [line.split()[0] for line in lines[1:4]] == ["0", "1", "2"]
    assert [line.split()[-1] for line in lines[1:4]] == ["6.0"] * 3
    assert lines[4].startswith("3 ranks, backend sim: ")


def test_arguments_reach_the_function(call, program: Path) -> None:
    facts = json.loads(
        call("run", f"{program}:total", "-n", 2, "--arg", "start=10", "--arg", "name=y", "--json").output
    )
    assert facts["results"] == [21.0, 21.0]


def test_json_holds_the_run(call, program: Path) -> None:
    facts = json.loads(call("run", f"{program}:work", "-n", 4, "--cluster", "dgx-a100", "--json", "--report").output)
    assert facts["world_size"] == 4
    assert facts["backend"] == "sim"
    assert facts["time"] == pytest.approx(0.25)
    assert facts["rank_times"] == [facts["time"]] * 4
    assert "100.0%" in facts["report"]


def test_the_report_says_where_the_time_went(call, program: Path) -> None:
    shown = call("run", f"{program}:work", "-n", 2, "--report")
    assert shown.exit_code == 0
    assert "sum" in shown.output


def test_a_timeline_and_a_trace_are_written(call, program: Path, tmp_path: Path) -> None:
    picture, trace = tmp_path / "t.png", tmp_path / "t.json"
    shown = call("run", f"{program}:total", "--timeline", picture, "--trace", trace)
    assert shown.exit_code == 0
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert json.loads(trace.read_text())
    assert f"timeline: {picture}" in shown.output
    assert f"trace: {trace}" in shown.output


def test_the_machines_are_drawn(call, program: Path, tmp_path: Path) -> None:
    picture = tmp_path / "t.png"
    shown = call("run", f"{program}:total", "--cluster", "dgx-a100", "--topology", picture)
    assert shown.exit_code == 0
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert f"topology: {picture}" in shown.output


@pytest.mark.process
def test_the_same_function_on_real_processes(call, program: Path) -> None:
    facts = json.loads(call("run", f"{program}:total", "-n", 2, "--backend", "process", "--json").output)
    assert facts["backend"] == "process"
    assert facts["results"] == [3.0, 3.0]


def test_an_exception_in_a_rank_shows_their_line_and_the_rank(call, program: Path) -> None:
    shown = call("run", f"{program}:fail", "-n", 2)
    assert shown.exit_code == 1
    assert "ValueError: no luck on this rank" in shown.stderr
    assert "programs_for_cli.py" in shown.stderr
    assert "rank 1" in shown.stderr
    assert "kernel.py" not in shown.stderr
    assert shown.stdout == ""


def test_a_deadlock_is_a_lesson_without_a_traceback(call, program: Path) -> None:
    shown = call("run", f"{program}:stuck", "-n", 2)
    assert shown.exit_code == 1
    assert "rank 0" in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nowhere.py:train"], "there is no file 'nowhere.py'"),
        (["train"], "'train' is not FILE:FUNCTION"),
        (["{}:totl"], "has no function 'totl'. Did you mean 'total'?"),
        (["{}:total", "--cluster", "dgx-a10"], "there is no cluster named 'dgx-a10'. Did you mean 'dgx-a100'"),
        (["{}:total", "--cluster", "missing.toml"], "missing.toml"),
        (["{}:total", "--backend", "proces"], "there is no backend named 'proces'. Did you mean 'process'"),
        (["{}:total", "--device", "metal"], "there is no device named 'metal'. Did you mean 'meta'"),
        (["{}:total", "--arg", "begin=2"], "total has no parameter 'begin'. It takes: start, name."),
        (["{}:total", "--cluster", "laptop", "-n", "5"], "laptop"),
    ],
)
def test_wrong_use_is_explained(call, program: Path, words: list[str], text: str) -> None:
    shown = call("run", *(word.format(program) for word in words))
    assert shown.exit_code == 2, shown.output
    assert text in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize("number", ["0", "-1", "two"])
def test_a_world_needs_a_rank(call, program: Path, number: str) -> None:
    assert call("run", f"{program}:total", "--world-size", number).exit_code == 2


def test_a_long_result_is_cut_in_the_table_only(call, tmp_path: Path) -> None:
    path = tmp_path / "program_with_long_result.py"
    path.write_text("def long(rank, world_size):\n    return 'x' * 200\n")
    assert "x" * 57 + "..." in call("run", f"{path}:long", "-n", 1).output
    assert json.loads(call("run", f"{path}:long", "-n", 1, "--json").output)["results"] == ["x" * 200]


def test_json_is_one_document_whatever_ranks_print(call, tmp_path: Path) -> None:
    path = tmp_path / "program_that_prints.py"
    path.write_text(
        "import simdist as sd\nprint('loading')\n"
        "def talk(rank, world_size):\n    print('hello from', rank)\n    sd.compute(seconds=1e-3)\n"
    )
    for backend in ("sim", "process"):
        shown = call("run", f"{path}:talk", "-n", 2, "--json", "--backend", backend)
        assert json.loads(shown.stdout)["world_size"] == 2
        assert "hello from 1" in shown.stderr
    shown = call("speedup", f"{path}:talk", "--world-sizes", "1,2", "--json")
    assert json.loads(shown.stdout)["world_sizes"] == [1, 2]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run", "--timeline", "nowhere/t.png"], "there is no directory 'nowhere' to write 't.png' into."),
        (["run", "--timeline", "t.doc"], "'t.doc' does not end like a picture."),
        (["run", "--topology", "t.doc"], "'t.doc' does not end like a picture."),
        (
            ["run", "--topology", "t.png", "--backend", "process"],
            "--topology draws simulated links, and --backend process has none",
        ),
        (["run", "--trace", "nowhere/t.json"], "there is no directory 'nowhere' to write 't.json' into."),
        (["run", "--trace", "."], "'.' is a directory: name a file in it."),
        (["speedup", "--plot", "nowhere/t.png"], "there is no directory 'nowhere' to write 't.png' into."),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_run(
    call, tmp_path: Path, words: list[str], text: str
) -> None:
    path = tmp_path / "program_that_leaves_a_mark.py"
    path.write_text(f"def mark(rank, world_size):\n    open({str(tmp_path / 'ran')!r}, 'w')\n")
    shown = call(words[0], f"{path}:mark", *words[1:])
    assert shown.exit_code == 2
    assert text in shown.stderr
    assert not (tmp_path / "ran").exists()


def test_a_closed_pipe_ends_a_command_quietly() -> None:
    command = f"{sys.executable} -m simdist clusters | head -1; sleep 0.5"
    shown = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert shown.stdout.count("\n") == 1
    assert shown.stderr == ""


def test_a_file_may_register_the_backend_that_it_runs_on(call) -> None:
    from simdist.backends.registry import unregister_backend

    example = Path(__file__).parents[2] / "examples" / "own_backend.py"
    shown = call("run", f"{example}:train", "--backend", "queues", "-n", 3)
    unregister_backend("queues")
    assert shown.exit_code == 0, shown.output
    assert "3 ranks, backend queues" in shown.output
