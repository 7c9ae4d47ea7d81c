"""Runs under ``mpiexec``: the same bytes as in simulation, and what happens when a rank fails."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.process


@pytest.mark.parametrize("ranks", [2, 4])
def test_collectives_and_messages_give_the_same_bytes_as_in_simulation(play, ranks):
    assert play(ranks, "same_bytes") == [True] * ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_training_gives_the_same_bytes_as_in_simulation(play, ranks):
    assert play(ranks, "same_training") == [True] * ranks


def test_every_process_gets_the_run_and_its_own_copy_of_what_the_function_captures(play):
    first, second = play(2, "facts")
    assert first == second
    version, result, backend, times, captured, computing = first
    assert re.search(r"MPI", version)
    assert result == "(loud, True)"
    assert (backend, times, captured, computing) == ("mpi", 2, [], True)


def test_lines_carry_the_rank(start):
    from tests.backends.mpi.conftest import PROGRAMS

    lines = start(2, str(PROGRAMS), "facts").stdout.splitlines()
    assert sorted(line for line in lines if line.startswith("[")) == [
        "[rank 0] line of 0",
        "[rank 0] rest of 0",
        "[rank 1] line of 1",
        "[rank 1] rest of 1",
    ]


@pytest.fixture(scope="module")
def failures(play):
    return play(4, "failing")


def test_every_process_raises_the_same(failures):
    for name in ("raises", "deadlock", "returned", "mismatch", "busy", "leaves", "locked"):
        assert len({tuple(map(str, told[name][:3])) for told in failures}) == 1, name


def test_what_a_rank_raised_arrives_with_its_number(failures):
    kind, text, notes, seconds = failures[3]["raises"]
    assert (kind, text) == ("LookupError", "'no luck'") or (kind, text) == ("LookupError", "no luck")
    assert notes[0].startswith("raised on rank 1 (process) at ")
    assert seconds < 10


def test_a_deadlock_is_a_timeout_that_names_what_each_rank_waits_for(failures):
    kind, text, _, _ = failures[0]["deadlock"]
    assert kind == "ExpiredError"
    assert "waited 0.3 s, its timeout, for: " in text
    assert "What each rank was doing:" in text
    assert re.search(r"rank 0 waits for recv at programs.py:\d+: receive of \(3,\) float64 from rank 1", text)
    assert re.search(r"rank 2 waits for barrier #0 of group 'world' at programs.py:\d+", text)


def test_a_rank_that_waits_for_one_that_has_returned_is_told_at_once(failures):
    kind, text, _, _ = failures[0]["returned"]
    assert kind == "StrandedError"
    assert "rank 1 has returned, rank 0 still waits for: recv at programs.py" in text
    assert "rank 2 has returned" in text


def test_different_calls_are_told_with_both_lines(failures):
    kind, text, _, _ = failures[0]["mismatch"]
    assert kind == "CollectiveMismatchError"
    assert re.search(r"all_reduce of \(4,\) float64, SUM \(programs.py:\d+\)", text)
    assert re.search(r"broadcast of \(4,\) float64, root 0 \(programs.py:\d+\)", text)
    assert "Every rank of a group must make the same calls in the same order" in text


def test_a_rank_that_computes_for_ever_is_stopped(failures):
    assert failures[0]["busy"][0] == "LookupError"


def test_a_rank_that_leaves(failures):
    assert failures[0]["leaves"][:2] == [
        "RankFailedError",
        "rank 1 left with exit code 3 (sys.exit) before it returned",
    ]


def test_a_result_that_cannot_travel(failures):
    kind, text, _, _ = failures[0]["locked"]
    assert kind == "DistBackendError"
    assert re.search(
        r"rank \d returned a lock that cannot be sent to the other ranks \(TypeError: .*Return numbers", text
    )


def test_a_failed_run_leaves_nothing_behind(failures):
    assert [told["after"] for told in failures] == [[0, 1, 2, 3]] * 4


def test_what_arrives_late_does_not_meet_the_next_run(play):
    assert play(2, "late_arrivals") == [[[None, None], [1.0, 0.0]] * 2] * 2


def test_calls_that_do_not_fit(play):
    for told in play(2, "wrong_calls"):
        (a, few), (b, differ), (c, jitter) = told
        assert a == "DistBackendError"
        assert few.startswith("world_size=3, but this program runs as 2 MPI processes. Start it with mpiexec -n 3 (")
        assert b == "CollectiveMismatchError"
        assert "rank 0 calls it with seed=0 and rank 1 with seed=1. Call it with the same arguments" in differ
        assert c == "ClusterError"
        assert jitter == "stragglers and jitter are simulated; on backend='mpi' machines are as fast as they are."


def test_a_process_that_does_not_come(play):
    first, second = play(2, "late")
    assert second is None
    assert first[0] == "DistBackendError"
    assert first[1].startswith(
        "not every MPI process has called sd.run(..., backend='mpi') within 0.3 s. It is collective"
    )


def test_a_rank_that_cannot_be_stopped_is_ended_with_all_others(start):
    from tests.backends.mpi.conftest import PROGRAMS

    done = start(2, str(PROGRAMS), "stuck")
    assert done.returncode != 0
    assert "rank 0: LookupError: no luck" in done.stderr
    assert "programs.py" in done.stderr  # where
    assert "Not every rank has stopped within 0.5 s after this (one may be in compiled code): MPI_Abort." in done.stderr
