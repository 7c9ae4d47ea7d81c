from simdist.distributed import HashStore, PrefixStore


def test_two_prefixes_keep_apart_in_one_store():
    below = HashStore()
    a, b = PrefixStore("a", below), PrefixStore("b", below)
    a.set("k", "1")
    b.set("k", "2")
    assert (a.get("k"), b.get("k"), below.get("a/k")) == (b"1", b"2", b"1")
    assert (a.num_keys(), a.list_keys(), a.underlying_store is below) == (2, ["k"], True)
