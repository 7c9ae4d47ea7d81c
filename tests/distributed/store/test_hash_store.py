import pickle

import pytest

import simdist as sd
from simdist.distributed import HashStore, PrefixStore
from simdist.distributed.store import hash_store
from simdist.errors import DeadlockError, DistStoreError


def test_values_are_bytes_and_the_last_one_counts():
    store = HashStore()
    store.set("k", "a")
    store.set("k", b"b")
    assert (store.get("k"), store.num_keys()) == (b"b", 1)


@pytest.mark.parametrize("strict", [False, True])
def test_a_simulated_rank_waits_and_the_others_go_on(strict):
    store = HashStore()

    def program(rank, world_size):
        if rank == 0:
            sd.sleep(2.0)
            store.set("go", "now")
            return None
        if rank == 1:
            return store.get("go").decode(), round(sd.current_time(), 3)
        sd.sleep(0.5)
        return store.check(["go"]), round(sd.current_time(), 3)

    run = sd.run(program, world_size=3, strict=strict)
    assert run.results == [None, ("now", 2.0), (False, 0.5)]
    waits = [(s.rank, s.kind, s.name, s.start, s.end, s.details["for"]) for s in run.trace if s.kind == "wait"]
    assert waits == [(1, "wait", "store.get('go')", 0.0, 2.0, [0])]
    assert "waits for rank 0: store.get('go')" in str(run.at(1.0))


def test_a_key_that_nobody_will_set_is_a_deadlock():
    store = HashStore()

    def program(rank, world_size):
        if rank == 1:
            store.get("never")

    with pytest.raises(DeadlockError, match=r"rank 1 at 0 s waits in store\.get\('never'\), test_hash_store\.py:\d+"):
        sd.run(program, world_size=2)


@pytest.mark.parametrize("own", [True, False])
def test_an_explicit_limit_is_simulated_time(own):
    store = PrefixStore("p", HashStore(timeout=1.5) if own else HashStore())

    def program(rank, world_size):
        if rank == 0:
            sd.sleep(9.0)
            store.set("k", "too late")
            return None
        with pytest.raises(DistStoreError, match=r"^rank 1 at 1\.5 s: store\.get\('p/k'\) waited 1\.5 s for 'p/k'"):
            store.get("k")
        return sd.current_time()

    assert sd.run(program, world_size=2, timeout=None if own else 1.5).results == [None, 1.5]


def test_one_that_a_rank_makes_is_its_own():
    def program(rank, world_size):
        store = HashStore()
        return store.add("n", 1)

    assert sd.run(program, world_size=3).results == [1, 1, 1]


def test_it_is_never_copied_and_goes_to_no_other_process(monkeypatch):
    store = HashStore()
    packed = pickle.dumps(store)
    assert pickle.loads(packed) is store
    with pytest.raises(DistStoreError, match=r"a HashStore lives in one process .* TCPStore"):
        sd.run(lambda rank, world_size: store.num_keys(), world_size=2, backend="process")
    monkeypatch.setattr(hash_store.os, "getpid", lambda: -1)
    with pytest.raises(DistStoreError, match="lives in one process"):
        pickle.loads(packed)
