"""What every kind of store does, each of them outside a run."""

import threading
from datetime import timedelta

import pytest

from simdist.distributed import FileStore, HashStore, PrefixStore, Store, TCPStore
from simdist.distributed.store.store import as_bytes


@pytest.fixture(params=["hash", "prefix", "file", "tcp"])
def store(request, tmp_path):
    return {
        "hash": HashStore,
        "prefix": lambda: PrefixStore("p", HashStore()),
        "file": lambda: FileStore(str(tmp_path / "notes"), 1),
        "tcp": lambda: TCPStore("127.0.0.1", 0, 1, True),
    }[request.param]()


def test_a_thread_waits_for_another(store):
    late = threading.Timer(0.05, store.set, ("k", b"v"))
    if isinstance(store, TCPStore):  # one question at a time on one connection
        late = threading.Timer(0.05, TCPStore("127.0.0.1", store.port).set, ("k", b"v"))
    late.start()
    assert store.get("k") == b"v"
    late.join()


def test_values_may_be_any_bytes_and_keys_any_text(store):
    value = bytes(range(256)) * 10
    store.set("ключ '\n", value)
    assert (store.get("ключ '\n"), store.list_keys()) == (value, ["ключ '\n"])
    assert store.compare_set("ключ '\n", value, "") == b""
    assert (store.check(["ключ '\n"]), store.get("ключ '\n")) == (True, b"")


def test_many_threads_add_without_losing_anything(store):
    def work():
        for _ in range(10):
            store.add("n", 1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.add("n", 0) == 80


def test_the_timeout_is_torch_s_until_it_is_changed(store):
    assert store.timeout == timedelta(seconds=300)
    store.set_timeout(timedelta(milliseconds=5))
    assert store.timeout == timedelta(milliseconds=5)
    assert isinstance(store, Store)
    assert (as_bytes("ä"), as_bytes(bytearray(b"x"))) == ("ä".encode(), b"x")
