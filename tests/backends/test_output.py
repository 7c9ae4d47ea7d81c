import sys
import warnings

import pytest

import simdist as sd


def test_lines_carry_the_rank_and_do_not_mix(capsys):
    def program(rank, world_size):
        print("part", end=" ")
        sd.distributed.barrier()
        print(f"of {rank}")
        print("no end", end="")
        print("to the other stream", file=sys.stderr)

    before = sys.stdout
    sd.run(program, world_size=2)
    assert sys.stdout is before
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == [
        "[rank 0] no end",
        "[rank 0] part of 0",
        "[rank 1] no end",
        "[rank 1] part of 1",
    ]
    assert sorted(err.splitlines()) == ["[rank 0] to the other stream", "[rank 1] to the other stream"]


def test_what_is_not_a_rank_prints_as_it_is(capsys):
    sd.run(lambda rank, world_size: None, world_size=1)
    print("plain")
    assert capsys.readouterr().out == "plain\n"


def test_streams_come_back_after_a_failure():
    before = sys.stdout, sys.stderr

    def program(rank, world_size):
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        sd.run(program, world_size=2)
    assert (sys.stdout, sys.stderr) == before


def test_a_warning_of_a_rank_is_a_warning_of_the_run():
    def program(rank, world_size):
        if rank == 1:
            warnings.warn("careful", stacklevel=1)

    with pytest.warns(UserWarning, match="careful"):
        sd.run(program, world_size=2)
