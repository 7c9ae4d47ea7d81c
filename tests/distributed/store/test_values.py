"""Values over a dictionary; what they do is the recorded behaviour of PyTorch (tests/golden/test_stores.py)."""

import pytest

from simdist.distributed.store.values import CHANGES, WORKERS, Values
from simdist.errors import QueueEmptyError


def test_what_an_operation_would_have_to_wait_for():
    values = Values()
    values.set("a", b"1")
    values.queue_push("q", b"1")
    assert values.missing("get", "a") == values.missing("set", "b", b"") == []
    assert values.missing("wait", ["a", "b", "q"]) == ["b"]
    assert values.missing("multi_get", ["a", "q"]) == ["q"]
    assert (values.lacks("b", "wait", ["a", "b"]), values.lacks("a", "wait", ["a", "b"])) == (True, False)
    assert (values.missing("queue_pop", "p", True), values.missing("queue_pop", "p", False)) == (["p"], [])
    assert (values.missing("come_up_to", "a", 1), values.missing("come_up_to", "a", 2)) == ([], ["a"])


def test_keys_of_its_own_are_counted_and_not_listed():
    values = Values(hidden=1)
    values.add(WORKERS, 1)
    values.set("b", b"")
    values.set("a", b"")
    assert (values.num_keys(), values.list_keys(), values.delete_key("a")) == (4, ["a", "b"], True)


def test_a_queue_gives_its_values_in_order_and_says_that_it_is_empty():
    values = Values()
    values.queue_push("q", b"1")
    values.queue_push("q", b"2")
    assert (values.queue_len("q"), values.queue_pop("q", True), values.queue_pop("q", True)) == (2, b"1", b"2")
    assert (values.queue_len("q"), values.check(["q"]), values.num_keys()) == (0, False, 0)
    with pytest.raises(QueueEmptyError, match=r"queue_pop\('q', block=False\): the queue is empty"):
        values.queue_pop("q", False)


def test_every_change_is_an_operation():
    assert all(callable(getattr(Values, name)) for name in CHANGES)
