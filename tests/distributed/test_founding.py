"""Every rank makes the same groups in the same order: what happens if one does not."""

import re

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.distributed.founding import _listed, local_number
from simdist.errors import CollectiveMismatchError, DeadlockError, DistTimeoutError

BACKENDS = ["sim", "process"]


def run(fn, backend, world_size=3, **options):
    return sd.run(fn, world_size=world_size, backend=backend, timeout=None if backend == "sim" else 5.0, **options)


def different_lists(rank, world_size):
    try:
        dist.new_group([0, 2] if rank == 1 else [0, 1])
    except CollectiveMismatchError as error:
        return str(error)


@pytest.mark.parametrize("backend", BACKENDS)
def test_different_lists_are_told_on_every_rank(backend):
    def program(rank, world_size):
        text = different_lists(rank, world_size)
        if text is None:
            raise AssertionError("a group was made")
        return text

    texts = run(program, backend).results
    assert len(texts) == 3
    for text in texts:
        assert re.search(r"new_group\(\[0, 2\]\) \(test_founding.py:\d+\)", text)
        assert re.search(r"new_group\(\[0, 1\]\) \(test_founding.py:\d+\)", text)
        assert "rank 1" in text
        assert "must make the same calls in the same order" in text


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_rank_that_never_calls_is_named(backend):
    def program(rank, world_size):
        if rank < 2:
            group = dist.new_group([0, 1])
            dist.all_reduce(np.ones(2), group=group)

    with pytest.raises(DeadlockError) as found:
        run(program, backend)
    text = str(found.value)
    assert text.count("new_group([0, 1]) #0 of group 'world'") >= 2
    assert re.search(r"test_founding.py:\d+", text)
    assert "rank 2 has returned" in text
    assert "rank 0" in text
    assert "rank 1" in text


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_rank_that_does_something_else_is_told(backend):
    def program(rank, world_size):
        if rank < 2:
            dist.new_group([0, 1])
        dist.barrier()

    with pytest.raises(
        CollectiveMismatchError, match=r"rank 2 .* barrier \(test_founding.py:\d+\), but rank \d .*"
    ) as found:
        run(program, backend)
    assert re.search(r"new_group\(\[0, 1\]\) \(test_founding.py:\d+\)", str(found.value))


@pytest.mark.parametrize("backend", BACKENDS)
def test_unchecked_it_passes_as_with_a_bare_library(backend):
    def program(rank, world_size):
        if rank < 2:
            x = np.ones(1)
            dist.all_reduce(x, group=dist.new_group([0, 1]))
            return x.tolist(), different_lists(rank, world_size)
        return None

    assert run(program, backend, checked=False).results == [([2], None), ([2], None), None]


@pytest.mark.parametrize("backend", BACKENDS)
def test_with_local_synchronization_the_members_alone_call_it(backend):
    def program(rank, world_size):
        x, y = np.ones(1), np.ones(1)
        if rank < 2:
            for _ in range(2):
                dist.all_reduce(x, group=dist.new_group([1, 0], use_local_synchronization=True))
        later = dist.new_group([0, 2])
        if rank != 1:
            dist.all_reduce(y, group=later)
        return x.tolist(), y.tolist()

    assert run(program, backend).results == [([4], [2]), ([4], [1]), ([1], [2])]


def test_numbers_of_local_groups():
    numbers = [local_number((0, 1), 0), local_number((0, 1), 1), local_number((0, 2), 0)]
    assert len(dict.fromkeys(numbers)) == 3
    assert all(2**32 <= number < 2**62 for number in numbers)


@pytest.mark.parametrize("options", [{}, {"strict": True}, {"traced": False}])
def test_it_takes_the_time_of_waiting_for_the_last(options):
    def program(rank, world_size):
        sd.compute(seconds=1e-3 * rank)
        dist.new_group([0, 1])
        return sd.current_time()

    done = sd.run(program, world_size=3, **options)
    assert done.results == [2e-3] * 3
    if not options:
        waits = [span for span in done.trace.spans() if span.kind == "wait"]
        assert [(span.rank, span.name, span.end) for span in waits] == [
            (rank, "new_group([0, 1]) #0", 2e-3) for rank in (0, 1)
        ]


def test_a_late_rank_is_a_time_out():
    def program(rank, world_size):
        sd.compute(seconds=1.0 * rank)
        dist.new_group([0, 1])

    with pytest.raises(
        DistTimeoutError, match=r"rank 0 at 100 ms: new_group\(\[0, 1\]\) #0 of group 'world' took longer"
    ):
        sd.run(program, world_size=2, timeout=0.1)


def test_long_lists_are_shortened_and_still_told_apart():
    assert _listed([0, 3]) == "[0, 3]"
    one, other = _listed(range(100)), _listed([*range(50), *range(51, 100), 200])
    assert re.fullmatch(r"\[0, 1, 2, 3, 4, 5, 6, 7, ..., 99\]: 100 ranks, checksum [0-9a-f]{8}", one)
    assert one != other
