import pytest

import simdist as sd
from simdist.distributed import HashStore
from simdist.errors import DistStoreError


def test_values_are_bytes_and_the_last_one_counts():
    store = HashStore()
    store.set("k", "a")
    store.set("k", b"b")
    assert (store.get("k"), store.num_keys()) == (b"b", 1)


def test_a_simulated_rank_does_not_wait():
    def program(rank, world_size):
        HashStore().get("k")

    with pytest.raises(DistStoreError, match="waited 0 s for 'k'"):
        sd.run(program, world_size=2)
