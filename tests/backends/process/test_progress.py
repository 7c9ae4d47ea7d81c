from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from simdist.backends.process.claim import Claim
from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.progress import Progress, Waiter
from simdist.backends.process.wires import Sockets
from simdist.backends.process.work import Work
from simdist.errors import DistTimeoutError

pytestmark = pytest.mark.timeout(30)


class Owner:
    """An endpoint that has nothing to say."""

    def late_error(self) -> BaseException | None:
        return None

    def after_progress(self) -> None:
        return

    def claims(self) -> list[Claim]:
        return []

    def __init__(self) -> None:
        self.said: list[Work] = []

    def say(self, work: Work) -> None:
        self.said.append(work)


def _work(progress: Progress, note: bytes = b"") -> Work:
    with progress.mutex:
        progress.began()
    return Work(progress, 0, 1, False, np.zeros(1), (0, 0, 0), note, "")


def _finish(progress: Progress, *works: Work) -> None:
    with progress.mutex:
        for work in works:
            progress.finish(work)


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def progress(owner: Owner) -> Any:
    made = Progress(owner, 10.0, Sockets({}))
    yield made
    made.close()


def test_a_bell_can_be_rung_twice_before_it_is_heard(progress: Progress) -> None:
    waiter = Waiter(_work(progress), None)
    waiter.ring()
    waiter.ring()
    assert waiter.bell.acquire(timeout=1)
    assert not waiter.bell.acquire(blocking=False)
    _finish(progress, waiter.work)


def test_finishing_twice_counts_once(progress: Progress) -> None:
    work = _work(progress)
    assert progress.pending == 1
    _finish(progress, work, work)
    assert progress.pending == 0
    work.wait()


def test_every_waiting_thread_is_woken_in_any_order(progress: Progress) -> None:
    """One thread leads, the others follow; the lead must never get lost when a leader or a follower leaves."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        works = [_work(progress) for _ in range(4)]
        threads = [threading.Thread(target=work.wait) for work in works]
        for thread in threads:
            thread.start()
        time.sleep(rng.random() * 0.002)
        for index in rng.permutation(4):
            _finish(progress, works[index])
            with progress.mutex:
                progress._kick()  # what a link does when it has brought the message
            time.sleep(rng.random() * 0.0005)
        for thread in threads:
            thread.join(5)
            assert not thread.is_alive()
    assert progress.waiting_for() == []


def test_several_threads_may_wait_for_one_work(progress: Progress) -> None:
    work = _work(progress)
    threads = [threading.Thread(target=work.wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(progress.waiting_for()) < 4:
        time.sleep(0.001)
    _finish(progress, work)
    with progress.mutex:
        progress._kick()
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def test_a_follower_times_out_too(progress: Progress) -> None:
    works = [_work(progress), _work(progress)]
    errors: list[BaseException] = []

    def wait(work: Work, seconds: float) -> None:
        try:
            work.wait(seconds)
        except TimeoutError as error:
            errors.append(error)

    threads = [threading.Thread(target=wait, args=each) for each in zip(works, (0.05, 0.02), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert sorted(str(error).split(",")[0] for error in errors) == ["rank 0 waited 0.02 s", "rank 0 waited 0.05 s"]
    _finish(progress, *works)


def test_an_idle_rank_burns_no_time(world: Any) -> None:
    """Waiting costs at most a small share of a core (the background sleeps, the leader sleeps in the selector)."""

    def program(end: Endpoint) -> float:
        if end.rank == 1:
            time.sleep(1.0)
            end.isend(np.zeros(1), 0, (0, 0, 0)).wait()
            return 0.0
        before = time.thread_time()
        end.irecv(np.zeros(1), 1, (0, 0, 0)).wait()
        return time.thread_time() - before

    assert world(2).run(program)[0] < 0.2


def test_polling_never_blocks_while_another_thread_leads(progress: Progress) -> None:
    work = _work(progress)
    thread = threading.Thread(target=work.wait)
    thread.start()
    while not progress.waiting_for():
        time.sleep(0.001)
    assert not _work(progress).is_completed()
    _finish(progress, work)
    with progress.mutex:
        progress._kick()
    thread.join(5)
    assert not thread.is_alive()


def test_the_background_thread_ends_with_close() -> None:
    before = threading.active_count()
    made = Progress(Owner(), None, Sockets({}))
    assert threading.active_count() == before + 1
    made.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("note", [b"collective 0", b""])
def test_who_waits_half_of_its_limit_says_what_for_once(progress: Progress, owner: Owner, note: bytes) -> None:
    work = _work(progress, note)
    with pytest.raises(DistTimeoutError):
        work.wait(0.05)
    assert owner.said == ([work] if note else [])
    assert progress.awaited() == []
    _finish(progress, work)


def test_what_a_rank_waits_for_is_known(progress: Progress) -> None:
    work = _work(progress)
    seen: list[list[Work]] = []
    threading.Timer(0.05, lambda: seen.append(progress.awaited())).start()
    with pytest.raises(DistTimeoutError):
        work.wait(0.3)
    assert seen == [[work]]
    assert progress.awaited() == []
    _finish(progress, work)
