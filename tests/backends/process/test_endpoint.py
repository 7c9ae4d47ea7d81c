from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.frame import EAGER_BYTES
from simdist.backends.process.mismatch import MessageMismatchError
from simdist.backends.process.patience import ExpiredError, StrandedError

pytestmark = pytest.mark.timeout(60)
TAG = (0, 0, 0)
LARGE = EAGER_BYTES // 8 + 100
MakeWorld = Callable[..., Any]


@pytest.mark.parametrize("size", [0, 1, 5, EAGER_BYTES // 8, LARGE, 1_000_000])
@pytest.mark.parametrize("late", [False, True])
def test_a_message_arrives(world: MakeWorld, size: int, late: bool) -> None:
    data = np.random.default_rng(size).standard_normal(size)

    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            end.isend(data, 1, TAG).wait()
            return None
        if late:
            time.sleep(0.02)
        target = np.zeros(size)
        end.irecv(target, 0, TAG).wait()
        return target

    assert world(2).run(program)[1].tobytes() == data.tobytes()


@pytest.mark.parametrize("size", [3, LARGE, 200_000])
@pytest.mark.parametrize("late", [False, True])
def test_combine_takes_the_lower_rank_first(world: MakeWorld, size: int, late: bool) -> None:
    def program(end: Endpoint) -> np.ndarray:
        mine = np.full(size, 10.0 * (end.rank + 1))
        target = mine.copy()
        sent = end.isend(mine, 1 - end.rank, TAG)
        if late:
            time.sleep(0.02)
        end.irecv(target, 1 - end.rank, TAG, np.subtract).wait()
        sent.wait()
        return target

    for target in world(2).run(program):
        assert (target == -10.0).all()


@pytest.mark.parametrize("owned", [False, True])
def test_a_large_exchange_both_ways_does_not_block(world: MakeWorld, owned: bool) -> None:
    def program(end: Endpoint) -> bool:
        data = np.full(64 << 20, end.rank + 1, dtype=np.uint8)
        target = np.zeros_like(data)
        send = end.isend(data, 1 - end.rank, TAG, owned=owned)
        end.irecv(target, 1 - end.rank, TAG).wait()
        send.wait()
        return bool((target == 2 - end.rank).all())

    assert world(2).run(program) == [True, True]


@pytest.mark.parametrize("size", [4, LARGE])
def test_the_content_is_taken_at_the_call(world: MakeWorld, size: int) -> None:
    def program(end: Endpoint) -> Any:
        data = np.ones(size)
        if end.rank == 0:
            work = end.isend(data, 1, TAG)
            data[:] = 7
            return work.wait()
        time.sleep(0.02)
        end.irecv(data, 0, TAG).wait()
        return data.max()

    assert world(2).run(program)[1] == 1.0


@pytest.mark.parametrize("size", [4, LARGE])
def test_a_send_completes_when_its_receive_is_posted(world: MakeWorld, size: int) -> None:
    gate = threading.Event()

    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            work = end.isend(np.ones(size), 1, TAG)
            time.sleep(0.05)
            before = work.is_completed()
            gate.set()
            work.wait()
            return before, work.is_completed()
        gate.wait()
        return end.irecv(np.ones(size), 0, TAG).wait()

    assert world(2).run(program)[0] == (False, True)


@pytest.mark.parametrize("size", [4, LARGE])
def test_the_eager_limit_lets_a_send_go_ahead(world: MakeWorld, size: int) -> None:
    sent = threading.Event()

    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            end.isend(np.ones(size), 1, TAG).wait()
            return sent.set()
        assert sent.wait(10)
        target = np.zeros(size)
        end.irecv(target, 0, TAG).wait()
        return target.sum()

    assert world(2, eager_limit=1 << 20).run(program)[1] == size


def test_tags_select_and_one_tag_keeps_the_order(world: MakeWorld) -> None:
    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            works = [end.isend(np.array([index]), 1, (0, 0, index % 3)) for index in range(30)]
            return [work.wait() for work in works]
        got: dict[int, list[int]] = {}
        for tag in (2, 0, 1):
            for _ in range(10):
                target = np.zeros(1, dtype=np.int64)
                end.irecv(target, 0, (0, 0, tag)).wait()
                got.setdefault(tag, []).append(int(target[0]))
        return got

    assert world(2).run(program)[1] == {tag: list(range(tag, 30, 3)) for tag in range(3)}


_MESSAGE = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.sampled_from([0, 1, 9, 9000, 20_000]))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(_MESSAGE, max_size=25), seed=st.integers(0, 1000))
def test_any_set_of_messages_is_delivered(world: MakeWorld, messages: list[tuple[int, ...]], seed: int) -> None:
    plan = [message for message in messages if message[0] != message[1]]

    def content(index: int) -> np.ndarray:
        return np.full(plan[index][3], float(index))

    def program(end: Endpoint) -> list[tuple[int, bool]]:
        order = list(range(len(plan)))
        # Different tags may be received in any order, one tag keeps its own.
        random.Random(seed + end.rank).shuffle(order)
        order.sort(key=lambda index: plan[index][2] if seed % 2 else 0)
        queues: dict[tuple[int, int], list[int]] = {}
        for index, (src, dst, tag, _) in enumerate(plan):
            if dst == end.rank:
                queues.setdefault((src, tag), []).append(index)
        sends = [
            end.isend(content(i), plan[i][1], (0, 0, plan[i][2])) for i in range(len(plan)) if plan[i][0] == end.rank
        ]
        received = []
        for index in order:
            src, dst, tag, _ = plan[index]
            if dst == end.rank:
                expected = queues[src, tag].pop(0)
                target = np.zeros(plan[expected][3])
                received.append((expected, target, end.irecv(target, src, (0, 0, tag))))
        for *_, work in received:
            work.wait()
        for work in sends:
            work.wait()
        return [(index, bool((target == content(index)).all())) for index, target, _ in received]

    results = world(3).run(program)
    delivered = [item for result in results for item in result]
    assert sorted(delivered) == [(index, True) for index in range(len(plan))]


def test_many_threads_of_a_rank_wait_at_the_same_time(world: MakeWorld) -> None:
    def program(end: Endpoint) -> int:
        def talk(channel: int) -> None:
            for step in range(60):
                data = np.full(50 if step % 7 else LARGE, channel + step, dtype=np.float64)
                target = np.zeros_like(data)
                work = end.isend(data, 1 - end.rank, (channel, 1, step))
                end.irecv(target, 1 - end.rank, (channel, 1, step)).wait()
                work.wait()
                good.append(bool((target == channel + step).all()))

        good: list[bool] = []
        threads = [threading.Thread(target=talk, args=(channel,)) for channel in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        return sum(good)

    assert world(2).run(program) == [240, 240]


@pytest.mark.parametrize("size", [4, LARGE])
def test_messages_move_while_nobody_waits(world: MakeWorld, size: int) -> None:
    """A send that nobody waits for is delivered although its rank only computes."""
    received = threading.Event()

    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            end.isend(np.ones(size), 1, TAG)
            return received.wait(10)
        time.sleep(0.2)
        target = np.zeros(size)
        end.irecv(target, 0, TAG).wait()
        received.set()
        return target.sum()

    assert world(2).run(program) == [True, size]


def test_shapes_without_data_travel_as_headers(world: MakeWorld) -> None:
    def program(end: Endpoint) -> Any:
        shape = SimpleNamespace(nbytes=1 << 40, shape=(1 << 38,), dtype="float32")
        work = end.isend(shape, 1 - end.rank, TAG)
        end.irecv(shape, 1 - end.rank, TAG, np.add).wait()
        return work.wait()

    assert world(2).run(program) == [None, None]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("size", [4, LARGE])
def test_different_notes_fail_on_both_sides(world: MakeWorld, size: int, late: bool) -> None:
    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            end.isend(np.zeros(size), 1, TAG, b"all_reduce").wait()
        if late:
            time.sleep(0.03)
        end.irecv(np.zeros(size), 0, TAG, note=b"broadcast").wait()

    errors = world(2).run(program)
    assert [type(error) for error in errors] == [MessageMismatchError] * 2
    assert [(error.mine, error.theirs) for error in errors] == [
        (b"all_reduce", b"broadcast"),
        (b"broadcast", b"all_reduce"),
    ]
    assert str(errors[0]) == str(errors[1])
    assert "rank 0 is at all_reduce, but rank 1 is at broadcast" in str(errors[0])


@pytest.mark.parametrize(("sent", "expected"), [(4, 3), (3, 4), (LARGE, 3), (3, LARGE), (0, 1), (1, 0)])
def test_different_sizes_fail_on_both_sides(world: MakeWorld, sent: int, expected: int) -> None:
    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            end.isend(np.zeros(sent), 1, (2, 1, 9)).wait()
        target = np.full(expected, 5.0)
        try:
            end.irecv(target, 0, (2, 1, 9)).wait()
        finally:
            assert (target == 5.0).all()

    for error in world(2).run(program):
        assert isinstance(error, MessageMismatchError)
        assert f"rank 0 sends {8 * sent} bytes to rank 1, but rank 1 receives into a buffer of {8 * expected}" in str(
            error
        )
        assert "(2, 1, 9)" in str(error)


def test_equal_notes_and_one_sided_notes_fit(world: MakeWorld) -> None:
    def program(end: Endpoint) -> Any:
        for mine, theirs in ((b"a", b"a"), (b"", b"a"), (b"a", b"")):
            if end.rank == 0:
                end.isend(np.ones(1), 1, TAG, mine).wait()
            else:
                end.irecv(np.ones(1), 0, TAG, note=theirs).wait()

    assert world(2).run(program) == [None, None]


def test_a_refusal_after_an_eager_send_is_told_at_the_next_wait(world: MakeWorld) -> None:
    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            end.isend(np.zeros(4), 1, TAG).wait()
            end.irecv(np.zeros(1), 1, TAG, note=b"later").wait()
        try:
            end.irecv(np.zeros(2), 0, TAG, note=b"broadcast 3").wait()
        except MessageMismatchError:
            end.isend(np.zeros(1), 0, (0, 0, 8)).wait(0.5)

    errors = world(2, eager_limit=100).run(program)
    assert str(errors[0]) == (
        "rank 1 at broadcast 3 refused a message that rank 0 sent to it earlier with tag (0, 0, 0): it receives 16 "
        "bytes. The send had completed already, because of eager_limit."
    )


def test_a_combine_that_fails_belongs_to_its_receive(world: MakeWorld) -> None:
    def program(end: Endpoint) -> Any:
        target = np.ones(4, dtype=np.int64)
        work = end.isend(target, 1 - end.rank, TAG)
        if end.rank == 1:
            time.sleep(0.02)
        with pytest.raises(TypeError, match="divide"):
            end.irecv(target, 1 - end.rank, TAG, np.true_divide).wait()
        return work.wait()

    assert world(2).run(program) == [None, None]


def test_a_wait_that_lasts_too_long(world: MakeWorld) -> None:
    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            end.irecv(np.zeros((4, 8), np.float32), 1, TAG, label="all_reduce 7").wait(0.05)
        time.sleep(0.3)

    error = world(2).run(program)[0]
    assert isinstance(error, ExpiredError)
    assert "rank 0 waited 0.05 s, its timeout, for: all_reduce 7: receive of (4, 8) float32 from rank 1" in str(error)
    assert "(test_endpoint.py:" in str(error)
    assert len(error.waits) == 1
    assert error.waits[0].startswith("all_reduce 7: receive of (4, 8) float32 from rank 1, tag (0, 0, 0), since 0.0")


def test_a_place_that_the_label_names_is_not_named_twice(world: MakeWorld) -> None:
    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            line = sys._getframe().f_lineno + 1
            end.irecv(np.zeros(1), 1, TAG, label=f"recv at test_endpoint.py:{line}").wait(0.05)
        time.sleep(0.2)

    assert str(world(2).run(program)[0]).count("test_endpoint.py") == 1


def test_a_wait_that_timed_out_can_be_taken_up_again(world: MakeWorld) -> None:
    go = threading.Event()

    def program(end: Endpoint) -> Any:
        if end.rank == 1:
            assert go.wait(10)
            return end.isend(np.full(3, 4.0), 0, TAG).wait()
        target = np.zeros(3)
        work = end.irecv(target, 1, TAG)
        with pytest.raises(ExpiredError):
            work.wait(0.01)
        go.set()
        work.wait()
        return target.sum()

    assert world(2).run(program)[0] == 12.0


@pytest.mark.parametrize("sends", [False, True])
@pytest.mark.parametrize("size", [4, LARGE])
@pytest.mark.parametrize("late", [False, True])
def test_waiting_for_a_rank_that_has_returned_fails_at_once(
    world: MakeWorld, sends: bool, size: int, late: bool
) -> None:
    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            if late:
                time.sleep(0.05)
            (end.isend if sends else end.irecv)(np.zeros(size), 1, TAG).wait()

    error = world(2).run(program)[0]
    assert isinstance(error, StrandedError)
    what = "send of" if sends else "receive of"
    assert str(error).startswith(f"rank 1 has returned, rank 0 still waits for: {what} ({size},) float64 ")
    assert "every rank must make the same collective calls" in str(error)
    assert len(error.waits) == 1


@pytest.mark.parametrize("size", [4, LARGE])
def test_what_a_returned_rank_had_sent_still_arrives(world: MakeWorld, size: int) -> None:
    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            return end.isend(np.ones(size), 1, TAG) and None
        time.sleep(0.1)
        target = np.zeros(size)
        end.irecv(target, 0, TAG).wait()
        return target.sum()

    assert world(2).run(program)[1] == size


def test_a_posted_receive_of_a_returned_rank_can_still_be_met(world: MakeWorld) -> None:
    target = np.zeros(3)
    posted: list[Any] = []

    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            posted.append(end.irecv(target, 1, TAG))
            return None
        time.sleep(0.1)
        return end.isend(np.ones(3), 0, TAG).wait()

    assert world(2).run(program) == [None, None]
    posted[0].wait()  # the sender is released when its message has been met, which may be before the last byte is there
    assert target.sum() == 3.0


def test_what_is_waited_for_can_be_asked_from_outside(world: MakeWorld) -> None:
    made = world(2)
    lines: list[list[str]] = []

    def program(end: Endpoint) -> Any:
        if end.rank == 0:
            return end.irecv(np.zeros(2), 1, (3, 1, 4), label=lambda: "barrier 4").wait()
        while not made.ends[0].waiting_for():
            time.sleep(0.001)
        lines.append(made.ends[0].waiting_for())
        return end.isend(np.zeros(2), 0, (3, 1, 4)).wait()

    assert made.run(program) == [None, None]
    assert lines[0][0].startswith("barrier 4: receive of (2,) float64 from rank 1, tag (3, 1, 4), since ")
    assert "(test_endpoint.py:" in lines[0][0]
    assert made.ends[0].waiting_for() == []


def test_a_world_of_one_starts_and_ends(world: MakeWorld) -> None:
    end = world(1).ends[0]
    assert end.waiting_for() == []
    with pytest.raises(ValueError, match="rank 0 cannot send to or receive from itself"):
        end.isend(np.zeros(1), 0, TAG)


def test_mistakes_of_the_caller(world: MakeWorld) -> None:
    end = world(2).ends[0]
    with pytest.raises(ValueError, match="there is no rank 2: the world has ranks 0 to 1"):
        end.irecv(np.zeros(1), 2, TAG)
    with pytest.raises(ValueError, match="a note has at most 2048 bytes, this one has 3000"):
        end.isend(np.zeros(1), 1, TAG, b"x" * 3000)


def test_the_clock_counts_from_the_common_start(world: MakeWorld) -> None:
    end = world(1).ends[0]
    end.start(time.perf_counter() - 5.0)
    assert 5.0 <= end.now() < 10.0
    for absurd in (time.perf_counter() + 1e6, time.perf_counter() - 1e6):
        end.start(absurd)
        assert 0.0 <= end.now() < 5.0
