import socket

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.distributed import TCPStore
from simdist.errors import DistNetworkError, DistStoreError


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_ranks_share_one_kept_by_the_first(backend):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    def program(rank, world_size):
        store = TCPStore("127.0.0.1", port, world_size, rank == 0)
        if rank == world_size - 1:
            sd.sleep(0.05)
            store.set("go", "1")
        store.get("go")
        mine = store.add("n", 1)
        dist.barrier()
        seen = store.add("n", 0), store.num_keys(), store.port == port, store.host
        dist.barrier()  # the master's store must live until all have read
        return mine, *seen

    results = sd.run(program, world_size=3, backend=backend).results
    assert sorted(mine for mine, *_ in results) == [1, 2, 3]
    assert {tuple(rest) for _, *rest in results} == {(3, 3, True, "127.0.0.1")}


def test_simulated_time_passes_while_workers_come():
    def program(rank, world_size):
        sd.sleep(rank)
        master = rank == 1
        store = TCPStore("node0", 29500, world_size, master)
        return store.port, round(sd.current_time(), 3)

    assert sd.run(program, world_size=4).results == [(29500, 1.0), (29500, 3.0), (29500, 2.0), (29500, 3.0)]


def test_not_all_workers_come():
    text = r"TCPStore at localhost:\d+: 1 of 2 workers came within 0\.05 s\. Each rank must make the store once"
    with pytest.raises(DistStoreError, match=text):
        TCPStore("localhost", 0, 2, True, timeout=0.05)

    def program(rank, world_size):
        if rank == 0:
            with pytest.raises(DistStoreError, match=text):
                TCPStore("localhost", 1234, 2, True, timeout=0.05)
            return sd.current_time()

    assert sd.run(program, world_size=2).results[0] == pytest.approx(0.05, abs=1e-5)
    assert TCPStore("localhost", 0, 2, True, timeout=0.05, wait_for_workers=False).num_keys() == 1


def test_no_master_or_two_of_them():
    def nobody(rank, world_size):
        TCPStore("localhost", 1234, world_size, False, timeout=2.0)

    with pytest.raises(
        DistNetworkError, match=r"rank 0 at 2 s: TCPStore localhost:1234 took longer than 2 s\. One rank must make it"
    ):
        sd.run(nobody, world_size=2)

    def both(rank, world_size):
        TCPStore("localhost", 1234, None, True)

    with pytest.raises(DistNetworkError, match=r"cannot listen on localhost:1234: another rank does already"):
        sd.run(both, world_size=2)


@pytest.mark.parametrize("simulated", [True, False])
def test_masters_of_one_process_may_share_a_server(simulated):
    def program(rank=0, world_size=1):
        first = TCPStore("localhost", 0, None, True, multi_tenant=True)
        second = TCPStore("localhost", first.port, None, True, multi_tenant=True)
        first.set("k", "v")
        return second.get("k"), second.num_keys()

    assert (sd.run(program, world_size=1).results[0] if simulated else program()) == (b"v", 2)


def test_a_socket_that_listens_already():
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    store = TCPStore("127.0.0.1", port, 1, True, master_listen_fd=listening.detach())
    assert (store.port, TCPStore("127.0.0.1", port).add("init/", 0)) == (port, 2)


def test_ports_that_are_none():
    with pytest.raises(ValueError, match="port 70000 is none"):
        TCPStore("localhost", 70000, None, True)
    with pytest.raises(ValueError, match="is for the master"):
        TCPStore("localhost", 0)
    assert sd.run(lambda rank, world_size: TCPStore("h", 0, 1, True).port, world_size=1).results == [29500]
