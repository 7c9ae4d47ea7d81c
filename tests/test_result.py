import pickle
import re

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import TraceError


def program(rank, world_size):
    sd.compute(seconds=1e-3 * (rank + 1))
    x = sd.ones(8)
    dist.all_reduce(x)
    return x.numpy()


@pytest.fixture(scope="module")
def run():
    return sd.run(program, world_size=2, cluster="dgx-a100", seed=4)


def test_what_a_run_says(run):
    text = repr(run)
    assert text.startswith("Run('program', world_size=2, backend='sim', cluster='dgx-a100', time='2")
    report = run.report()
    assert "program: 2 ranks, simulated on dgx-a100 (network: messages), 2" in report
    assert "waiting for other ranks" in report
    assert "exposed communication" in report
    assert run.where() == "simulated on dgx-a100 (network: messages)"


def test_the_parts_sum_to_the_time(run):
    for rank in range(2):
        assert sum(run.breakdown.parts[rank].values()) == pytest.approx(run.time, rel=1e-12)
    waits = [parts.get("wait", 0.0) for parts in run.breakdown.parts]
    assert waits == pytest.approx([1e-3, 0.0], rel=1e-12)


def test_save_and_load(run, tmp_path):
    path = run.save(tmp_path / "a.run")
    again = sd.load_run(path)
    assert again.trace == run.trace
    assert sd.compare(run, again).identical
    assert again.report() == run.report()


@pytest.mark.parametrize("content", [b"", b"nonsense", pickle.dumps({"a": 1}), pickle.dumps([1])])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "x.run"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a run saved by this version"):
        sd.load_run(path)


def test_at_names_who_is_waited_for(run):
    text = str(run.at(1.5e-3))
    assert "wait" in text
    assert "1" in text


def test_pictures(run):
    import matplotlib

    matplotlib.use("Agg")
    for ax in (run.timeline(), run.memory_plot(), run.breakdown_plot()):
        assert ax.figure is not None
        matplotlib.pyplot.close(ax.figure)


def test_traces_are_written_as_a_file_or_a_folder(run, tmp_path):
    file = run.save_trace(tmp_path / "t.json")
    assert file.is_file()
    folder = run.save_trace(tmp_path / "ranks")
    assert len(list(folder.iterdir())) == 2


QUESTIONS = {
    "timeline to draw": lambda run: run.timeline(),
    "breakdown": lambda run: run.breakdown,
    "memory to draw": lambda run: run.memory_plot(),
    "answer": lambda run: run.at(0.0),
    "critical path": lambda run: run.critical_path(),
    "step to look at": lambda run: run.report(step=-1),
    "trace to save": lambda run: run.save_trace("never.json"),
}


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_an_untraced_run_refuses_every_question_in_the_same_words(backend):
    run = sd.run(program, world_size=1, backend=backend, traced=False)
    lesson = "the run kept no trace (traced=False): run it again with traced=True, which is the default of sd.run"
    for what, ask in {**QUESTIONS, "breakdown ": lambda run: run.breakdown_plot()}.items():
        with pytest.raises(TraceError) as caught:
            ask(run)
        assert str(caught.value) == f"there is no {what.strip()}: {lesson}."
    assert f"({lesson})" in run.report()


def test_a_run_that_does_nothing_says_so():
    run = sd.run(lambda rank, world_size: None, world_size=2)
    lesson = "the run did nothing that takes time: no rank computed with tensors, communicated or slept."
    for text in (run.report(), str(run.breakdown), str(run.at(0)), str(run.critical_path())):
        assert lesson in text and "kept no trace" not in text
    for draw in (run.timeline, run.breakdown_plot):
        with pytest.raises(TraceError, match=lesson):
            draw()
    with pytest.raises(
        TraceError, match="there is no memory to draw: rank 0 held none on its accelerator, for it made no tensors"
    ):
        run.memory_plot()
    with pytest.raises(ValueError, match="there is no rank 2 to draw: the ranks of this run are"):
        run.memory_plot(rank=2)


def test_times_are_written_with_their_units(run):
    text = str(run.at(1.5e-3)).splitlines()[-1]
    assert re.fullmatch(r"previous event \d\.\d{4} ms, next event \d\.\d{4} ms", text)
    with pytest.raises(
        ValueError,
        match=r"at 5000\.0000 ms nothing happened: the run goes from 0 to 2\.\d{4} ms\. Times are in seconds",
    ):
        run.at(5)
