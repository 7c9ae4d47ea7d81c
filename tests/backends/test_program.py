import functools
import re
import threading
from typing import Any

import pytest

import simdist as sd
from simdist.backends.program import Program
from simdist.errors import DistBackendError


def test_a_copy_is_a_copy():
    seen = []

    def fn(rank, world_size, extra, key=None):
        seen.append(rank)
        return len(seen), extra, key

    fn2, args, kwargs = Program.unpack(Program(fn, ([1],), {"key": "k"}).pack())
    assert fn2(0, 1, *args, **kwargs) == (1, [1], "k")
    assert seen == []
    assert Program(fn).name.endswith("fn")


def test_ranks_do_not_share_closures_or_arguments():
    shared = []

    def fn(rank, world_size, more):
        shared.append(rank)
        more.append(rank)
        return list(shared), list(more)

    assert sd.run(fn, [], world_size=3).results == [([r], [r]) for r in range(3)]
    assert shared == []


def test_what_cannot_be_copied_is_named():
    lock = threading.Lock()

    def fn(rank, world_size):
        return lock.locked()

    with pytest.raises(DistBackendError, match="lock") as found:
        Program(fn).pack()
    assert "inside the function" in str(found.value)


def test_in_simulation_it_runs_without_a_copy_and_says_so():
    lock = threading.Lock()

    def fn(rank, world_size):
        return lock.locked()

    run = sd.run(fn, world_size=2)
    assert run.results == [False, False]
    assert any("all ranks share one copy" in note for note in run.notes)


def generator(rank, world_size):  # type: ignore[no-untyped-def]
    yield rank


async def coroutine(rank, world_size):  # type: ignore[no-untyped-def]
    return rank


class Asynchronous:
    async def __call__(self, rank, world_size):  # type: ignore[no-untyped-def]
        return rank


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (generator, "generator is a generator function (it has a yield): calling it would run nothing of it."),
        (coroutine, "coroutine is an async function: calling it would run nothing of it."),
        (functools.partial(coroutine), "is an async function"),
        (Asynchronous(), "is an async function"),
        (3, "the first argument must be a function of (rank, world_size, ...), got 3."),
    ],
)
@pytest.mark.parametrize("backend", ["sim", "process"])
def test_what_a_call_would_not_run_is_refused(fn: Any, text: str, backend: str) -> None:
    with pytest.raises(TypeError, match=re.escape(text)):
        sd.run(fn, world_size=2, backend=backend)


def test_copies_are_each_ranks_own_where_they_can_be_made():
    notes = []
    kept = [1]
    copies = Program(lambda: kept, (kept,), {"k": kept}).copies(notes)
    (fn, (a,), kwargs), (_, (b,), _) = copies(), copies()
    assert (fn(), a, kwargs) == ([1], [1], {"k": [1]})
    assert a is not b is not kept
    assert notes == []


def test_what_cannot_be_copied_is_shared_with_a_note():
    import threading

    notes, lock = [], threading.Lock()
    _, (a,), _ = Program(print, (lock,)).copies(notes)()
    assert a is lock
    assert len(notes) == 1
    assert notes[0].startswith("all ranks share one copy of the function and its arguments: cannot send print")
