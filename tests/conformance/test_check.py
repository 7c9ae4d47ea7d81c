"""simdist's own backends pass (MPI: tests/backends/mpi), so does the example; what is wrong is told."""

from __future__ import annotations

import importlib
import re
import threading

import numpy as np
import pytest

import simdist.distributed as dist
from simdist.conformance import check
from simdist.conformance.programs.program import Mistake, Program
from simdist.errors import CollectiveMismatchError, UnknownNameError

module = importlib.import_module("simdist.conformance.check")  # the function of the same name hides it
RANKS = 4


@pytest.fixture(scope="module")
def simulated():
    return check("sim", world_sizes=(RANKS,))


def test_the_simulator_passes(simulated):
    assert simulated.passed, str(simulated)
    assert len(simulated.findings) == len(module.PROGRAMS) + len(module.MISTAKES)


@pytest.mark.process
def test_local_processes_give_the_same_bytes(simulated):
    report = check("process", world_sizes=(RANKS,), only="^(?!mistake)")
    assert report.passed, str(report)
    assert report.fingerprint == simulated.fingerprint


@pytest.mark.process
def test_local_processes_refuse_mistakes():
    report = check("process", world_sizes=(2,), only="^mistake")
    assert report.passed, str(report)
    assert len(report.findings) == len(module.MISTAKES)


@pytest.mark.process
def test_the_example_passes_with_the_same_bytes(simulated, own, register):
    before = threading.active_count()
    register(own.queues)
    report = check("mine", world_sizes=(RANKS,))
    assert report.passed, str(report)
    assert report.fingerprint == simulated.fingerprint
    assert str(report).startswith("backend 'mine': ")
    assert "transport: order" in str(report)
    assert threading.active_count() <= before + 1


def test_one_rank_is_enough():
    report = check("sim", world_sizes=(1,), only="groups|mistake")
    assert report.passed, str(report)
    assert {finding.name.partition(":")[0] for finding in report.findings} == {"groups"}


# -- what is wrong is told ----------------------------------------------------------------------------------------------------


def _sum(rank, world_size):
    x = np.full(1000, float(rank))
    dist.all_reduce(x)
    return [x]


def _nothing(rank, world_size):
    return []


@pytest.fixture
def catalogue(monkeypatch):
    """Other programs and mistakes than the usual ones."""

    def replace(programs=(), mistakes=()):
        monkeypatch.setattr(module, "PROGRAMS", tuple(programs))
        monkeypatch.setattr(module, "MISTAKES", tuple(mistakes))

    return replace


@pytest.fixture
def carried(own, register):
    """``carried(change)``: a backend whose transport changes what it sends on behalf of collectives, and no other message."""

    def make(change):
        class Transport(own.QueueTransport):
            def isend(self, buf, dst, tag):
                of_program = tag[1] == 1 and len(buf) > 1000 and len(buf) != 8 * 1024 * 1024
                return super().isend(change(buf) if of_program else buf, dst, tag)

        def factory(size):
            boxes = own.Boxes()
            return [Transport(rank, size, boxes) for rank in range(size)]

        register(factory)
        return "mine"

    return make


def test_other_bytes_are_told_with_rank_and_place(catalogue, carried):
    catalogue([Program("a sum", _sum)])
    report = check(carried(np.zeros_like), world_sizes=(2,))
    (wrong,) = [finding for finding in report.findings if not finding.passed]
    assert (wrong.name, wrong.world_size) == ("a sum", 2)
    assert re.match(r"result of rank 0\[0\]: \d+ of 1000 elements differ; element 0 is np.float64\(", wrong.text)
    assert "; result of rank 1[0]: " in wrong.text


def test_an_error_is_told_with_its_notes(catalogue, carried):
    def cut(buf):
        raise OSError("the cable is out")

    catalogue([Program("a sum", _sum)])
    report = check(carried(cut), world_sizes=(2,))
    (wrong,) = [finding for finding in report.findings if not finding.passed]
    assert wrong.text.startswith("DistBackendError: rank ")
    assert "OSError: the cable is out" in wrong.text
    assert "raised on rank " in wrong.text


def test_programs_that_hang_end_the_suite(catalogue, own, register):
    class Silent(own.QueueTransport):
        def isend(self, buf, dst, tag):
            return own.Delivery() if tag[1] == 1 and len(buf) > 1000 else super().isend(buf, dst, tag)

    def factory(size):
        boxes = own.Boxes()
        return [Silent(rank, size, boxes) for rank in range(size)]

    register(factory)
    catalogue([Program(f"sum {i}", _sum) for i in range(9)])
    report = check("mine", world_sizes=(2,), timeout=0.2)
    assert [finding.name for finding in report.findings if not finding.passed] == ["sum 0", "sum 1", "sum 2"]
    assert report.left == "The rest was not tried: 3 programs did not come to an end."
    assert not report.passed


def test_programs_wait_for_the_transport(catalogue, broken, register):
    catalogue([Program("a sum", _sum)])
    register(broken("aliasing"))
    report = check("mine", world_sizes=(2,))
    assert report.left == "Programs were not tried: first the transport must keep its rules."
    assert "a sum" not in str(report)
    assert "transport: contents" in str(report)


def test_a_mistake_that_is_let_through_is_told(catalogue):
    catalogue([], [Mistake("mistake: none", _nothing, (CollectiveMismatchError, LookupError))])
    report = check("sim", world_sizes=(2,))
    assert report.findings[0].text == "must raise CollectiveMismatchError or LookupError, but nothing was raised"


def _bad(rank, world_size):
    raise LookupError("no luck")


def test_another_error_than_it_must_be_is_told(catalogue):
    catalogue([], [Mistake("mistake: other", _bad, (CollectiveMismatchError,))])
    text = check("sim", world_sizes=(2,)).findings[0].text
    assert text.startswith("must raise CollectiveMismatchError, raised LookupError: no luck")


def test_an_error_that_does_not_help_is_told(catalogue):
    catalogue([], [Mistake("mistake: words", _bad, (LookupError,), ("luck", "patience", r"rank \d"))])
    text = check("sim", world_sizes=(2,)).findings[0].text
    assert text.startswith("the error does not say patience: no luck")


def test_a_backend_that_does_not_exist():
    with pytest.raises(UnknownNameError, match="there is no backend named 'nccl'"):
        check("nccl")
