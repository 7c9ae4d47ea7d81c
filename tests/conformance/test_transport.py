"""Each fault of a transport is found by the rule that it breaks, and the text says what was seen."""

from __future__ import annotations

import itertools
import re
import time

import pytest

from simdist.conformance import check, check_transport


def faults(factory, seconds=0.6):
    report = check_transport(factory, seconds=seconds)
    return {f.name.removeprefix("transport: "): f.text for f in report.findings if not f.passed}


def test_queues_keep_all_rules(own):
    report = check_transport(own.queues)
    assert report.passed, str(report)
    assert str(report).startswith("transport: 8 passed\n")


@pytest.mark.parametrize(
    ("kind", "rule", "text"),
    [
        ("reordering", "order", r"rule 1: .*Messages 0 to 19 were sent with one tag, and arrived as \[1, 0, 3, 2,"),
        ("losing", "order", r"rule 1: .*The receive of message 18 of 20 from rank 0 did not end within 0\.6 s"),
        ("doubling", "order", r"rule 1: .*arrived as \[0, 1, 2, 3, 4, 5, 6, 6, 7"),
        ("spoiling", "order", r"rule 1: .*Message 6 of 20 arrived with other contents"),
        ("tagless", "tags", r"rule 2: .*the receive for \(1000000, 2, 1000000000\) took another one"),
        ("sourceless", "sources", r"rule 2: .*The receive from rank 2 took a message of another rank"),
        ("aliasing", "contents", r"rule 3: .*the sender wrote zeros into its array, and they arrived: isend must take"),
        ("overflowing", "sizes", r"rule 4: .*A message of 1 bytes was written beyond the end of its array"),
        ("patient", "limits", r"rule 5: wait\(timeout\) raises TimeoutError.*did not come to an end within 1\.8 s"),
        ("impatient", "limits", r"rule 5: .*wait\(0\.05\) of a receive returned, though nothing had been sent"),
        ("forgetful", "limits", r"rule 5: .*A receive that had been waited for in vain did not end within 0\.6 s"),
        ("blocking", "both ways at once", r"rule 5: .*Rank \d's send did not end within 0\.6 s"),
    ],
)
def test_a_fault_is_found_by_its_rule(broken, kind, rule, text):
    found = faults(broken(kind))
    assert rule in found, found
    assert re.search(text, found[rule], re.DOTALL), found[rule]


def test_what_a_transport_raises_is_told_with_its_line(broken):
    found = faults(broken("raising"))
    assert all(
        re.match(r"OSError: the cable is out \(irecv, line \d+ of .*conftest\.py\)", text) for text in found.values()
    )
    assert len(found) == 8


def test_a_factory_that_gives_nothing_is_told():
    found = faults(lambda size: [])
    assert "its factory must return a list with the end of each of the 2 ranks, got 0 of them" in found["order"]


def test_ends_are_closed(own):
    closed = []

    def factory(size):
        made = own.queues(size)
        for end in made:
            end.close = lambda: closed.append(size)
        return made

    assert check_transport(factory).passed
    assert len(closed) == 6 * 2 + 3 + 4


def test_it_does_not_take_for_ever(broken):
    began = time.monotonic()
    faults(broken("patient"), seconds=0.2)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("kind", ["files", "rendezvous", "lazy"])
def test_transports_of_other_kinds_keep_the_rules_and_carry_programs(kind, transports, register, tmp_path):
    """A disk; arrays that are copied when both sides are there; sockets that move only while somebody waits."""
    numbers = itertools.count()

    def files(size):
        directory = tmp_path / str(next(numbers))
        directory.mkdir()
        return [transports.FileTransport(rank, size, directory) for rank in range(size)]

    factory = files if kind == "files" else getattr(transports, kind)
    register(factory)
    report = check(
        "mine", world_sizes=(3,), only="^all_to_all|^messages: (order|any)|^groups: two|^mistake: another tag"
    )
    assert report.passed, str(report)
    assert len(report.findings) == 8 + 6
