from datetime import timedelta

import pytest

from simdist.distributed import FileStore, HashStore, PrefixStore
from simdist.errors import DistStoreError


def test_two_prefixes_keep_apart_in_one_store():
    below = HashStore()
    a, b = PrefixStore("a", below), PrefixStore("b", below)
    a.set("k", "1")
    b.set("k", "2")
    a.queue_push("q", "3")
    assert (a.get("k"), b.get("k"), below.get("a/k"), below.queue_len("a/q")) == (b"1", b"2", b"1", 1)
    assert (a.num_keys(), a.list_keys(), a.underlying_store is below) == (2, ["k"], True)


def test_prefixes_in_prefixes_and_the_timeout_below(tmp_path):
    below = FileStore(str(tmp_path / "f"))
    store = PrefixStore("a", PrefixStore("b", below))
    store.multi_set(["x", "y"], ["1", "2"])
    store.set_timeout(0.02)
    assert (below.list_keys(), below.timeout) == (["b/a/x", "b/a/y"], timedelta(seconds=0.02))
    assert (store.multi_get(["y", "x"]), store.has_extended_api()) == ([b"2", b"1"], False)
    with pytest.raises(DistStoreError, match=r"waited 0\.02 s for 'b/a/z'"):
        store.wait(["x", "z"])
