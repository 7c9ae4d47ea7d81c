import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.distributed.rendezvous import Address, complete, read_address
from simdist.errors import GroupError


def test_what_addresses_say():
    there = {"RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "node0", "MASTER_PORT": "29500"}
    assert read_address("env://", environment=there) == Address("env", 1, 4, "node0", 29500)
    assert read_address("env://", rank=2, environment=there).rank == 2
    assert read_address("env://", environment={}) == Address("env")
    assert read_address("tcp://node0:29500?rank=1&world_size=4") == Address("tcp", 1, 4, "node0", 29500)
    assert read_address("tcp://[::1]:80", 0, 2) == Address("tcp", 0, 2, "::1", 80)
    assert read_address("file:///a%20b/c", 0, 2) == Address("file", 0, 2, path="/a b/c")
    assert read_address("file://./c", 0, 2).path == "./c"


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("node0:29500", "no rendezvous of the kind 'node0'.*env://, tcp://, file://"),
        ("tcp://node0:1?rank=0", "names rank, and so does rank=0: give it once"),
        ("tcp://node0:1?world_size=x", "world_size must be a whole number, got 'x'"),
    ],
)
def test_addresses_that_cannot_be_read(url, text):
    with pytest.raises(GroupError, match=text):
        read_address(url, rank=0)


@pytest.mark.parametrize("left_out", ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"])
def test_a_variable_that_is_missing_is_named(left_out):
    there = {"RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "node0", "MASTER_PORT": "29500"}
    del there[left_out]
    with pytest.raises(ValueError, match=f"the environment variable {left_out} is missing"):
        complete(read_address("env://", environment=there), "env://")


@pytest.mark.parametrize("scheme", ["tcp", "file"])
def test_simulated_ranks_meet(scheme, tmp_path):
    url = "tcp://node0:29500" if scheme == "tcp" else f"file://{tmp_path / 'f'}"

    def program(rank, world_size):
        store, mine, size = next(dist.rendezvous(url, rank, world_size))
        store.add("n", 1)
        return mine, size, type(store).__name__

    name = {"tcp": "TCPStore", "file": "FileStore"}[scheme]
    assert sd.run(program, world_size=3).results == [(r, 3, name) for r in range(3)]


def test_a_kind_of_one_s_own():
    def meet(url, rank, world_size, timeout):
        yield dist.HashStore(timeout), rank, world_size

    dist.register_rendezvous_handler("own", meet)
    assert [row[1:] for row in dist.rendezvous("own://x", 0, 1)] == [(0, 1)]
    for name in ("own", "tcp"):
        with pytest.raises(GroupError, match=f"{name}:// exists already"):
            dist.register_rendezvous_handler(name, meet)
