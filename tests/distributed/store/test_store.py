"""The rules of stores as recorded from PyTorch 2.13."""

import threading
from datetime import timedelta

import pytest

from simdist.distributed import HashStore, PrefixStore
from simdist.errors import DistStoreError


@pytest.fixture(params=["hash", "prefix"])
def store(request):
    return HashStore() if request.param == "hash" else PrefixStore("p", HashStore())


def test_the_recorded_answers(store):
    store.set_timeout(timedelta(seconds=0.05))
    assert store.timeout == timedelta(seconds=0.05)
    store.set("a", "x")
    assert store.get("a") == b"x"
    with pytest.raises(DistStoreError, match=r"waited 0\.05 s for 'p?/?missing'"):
        store.get("missing")
    with pytest.raises(DistStoreError, match=r"waited 0\.01 s"):
        store.wait(["a", "missing"], 0.01)
    assert [store.add("n", 5), store.add("n", 2), store.get("n"), store.add("n", -3)] == [5, 7, b"7", 4]
    assert [store.check(["a"]), store.check(["zz"]), store.check(["a", "zz"]), store.num_keys()] == [
        True,
        False,
        False,
        2,
    ]
    assert [store.delete_key("a"), store.delete_key("a")] == [True, False]
    assert store.compare_set("c", "", "v1") == b"v1"
    assert store.compare_set("c9", "zz", "v1") == b"zz"
    assert store.compare_set("c", "no", "v2") == b"v1"
    assert store.compare_set("c", "v1", "v2") == b"v2"
    store.multi_set(["m1", "m2"], ["1", "2"])
    assert store.multi_get(["m1", "m2"]) == [b"1", b"2"]
    store.append("ap", "x")
    store.append("ap", "y")
    assert store.get("ap") == b"xy"
    assert store.list_keys() == ["ap", "c", "m1", "m2", "n"]
    with pytest.raises(ValueError, match="not a whole number"):
        store.add("ap", 1)


def test_a_thread_waits_for_another(store):
    late = threading.Timer(0.05, store.set, ("k", b"v"))
    late.start()
    assert store.get("k") == b"v"
    late.join()
