import gc

import pytest

import simdist as sd
from simdist.distributed import FileStore, PrefixStore
from simdist.errors import DistStoreError, StoreOperationError


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_ranks_share_a_file(backend, tmp_path):
    path = str(tmp_path / "notes")

    def program(rank, world_size):
        store = FileStore(path, world_size)
        if rank == world_size - 1:
            sd.sleep(0.05)
            store.set("go", "1")
        store.get("go")
        for _ in range(5):
            store.add("n", 1)
        store.set(f"done {rank}", "")
        store.wait([f"done {r}" for r in range(world_size)])
        return store.add("n", 0), store.num_keys(), store.path == path

    assert sd.run(program, world_size=3, backend=backend).results == [(15, 6, True)] * 3
    assert list(tmp_path.iterdir()) == []  # never written in simulation, removed by the last process


def test_the_last_user_removes_the_file(tmp_path):
    path = tmp_path / "notes"
    first, second, third = FileStore(path, 2), FileStore(path, 2), FileStore(path)
    first.set("k", "v")
    del first
    gc.collect()
    assert second.get("k") == b"v"
    del second
    gc.collect()
    assert third.get("k") == b"v"
    del third
    gc.collect()
    assert path.exists()  # its last user did not say how many there are


def test_it_waits_for_another_user(tmp_path):
    store, other = FileStore(tmp_path / "f", timeout=0.05), FileStore(tmp_path / "f")
    with pytest.raises(DistStoreError, match=r"store\.get\('k'\) waited 0\.05 s for 'k'"):
        store.get("k")
    other.set("k", "v")
    assert store.get("k") == b"v"


def test_there_are_no_queues(tmp_path):
    store = PrefixStore("p", FileStore(tmp_path / "f"))
    for call in (lambda: store.queue_push("q", "x"), lambda: store.queue_pop("q"), lambda: store.queue_len("q")):
        with pytest.raises(NotImplementedError, match="a FileStore has no queues") as caught:
            call()
        assert isinstance(caught.value, StoreOperationError)


def test_a_deadlock_over_a_file_is_reported(tmp_path):
    with pytest.raises(sd.errors.DeadlockError, match=r"waits in store\.wait\(\['a'\]\)"):
        sd.run(lambda rank, world_size: FileStore(tmp_path / "f").wait(["a"]), world_size=2)
