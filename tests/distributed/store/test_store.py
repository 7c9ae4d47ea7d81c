"""What every kind of store does, each of them outside a run."""

import tempfile
import threading
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simdist as sd
from simdist.distributed import FileStore, HashStore, PrefixStore, Store, TCPStore
from simdist.distributed.store.store import as_bytes
from simdist.errors import DistStoreError


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


keys = st.sampled_from(["a", "b", "c/d"])
values = st.sampled_from(["", "1", "x", "12"])
questions = st.one_of(
    st.tuples(st.just("set"), keys, values),
    st.tuples(st.just("add"), keys, st.integers(-3, 3)),
    st.tuples(st.just("append"), keys, values),
    st.tuples(st.just("compare_set"), keys, values, values),
    st.tuples(st.sampled_from(["get", "delete_key"]), keys),
    st.tuples(st.sampled_from(["check", "wait", "multi_get"]), st.lists(keys, max_size=2)),
    st.tuples(st.just("multi_set"), st.just(["a", "b"]), st.tuples(values, values)),
    st.tuples(st.just("list_keys")),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(questions, max_size=12))
def test_all_kinds_answer_any_questions_alike(asked):
    def answers(kind):
        kind.set_timeout(0.0)
        found = []
        for name, *arguments in asked:
            try:
                found.append(getattr(kind, name)(*arguments))
            except (DistStoreError, ValueError) as error:
                found.append(type(error).__name__)
        return found

    with tempfile.TemporaryDirectory() as folder:
        kinds = [
            HashStore(),
            PrefixStore("p", HashStore()),
            FileStore(f"{folder}/f"),
            TCPStore("127.0.0.1", 0, 1, True),
        ]
        first, *others = [answers(kind) for kind in kinds]
        simulated = sd.run(lambda rank, world_size: answers(TCPStore("h", 0, 1, True)), world_size=1).results[0]
    assert [first] * 4 == [*others, simulated]
