import threading
from datetime import timedelta

import pytest

import simdist as sd
from simdist.distributed import HashStore
from simdist.distributed.store.board import DEFAULT_SECONDS, Board, late, limit_now, said
from simdist.errors import DistStoreError


def test_whose_limit_holds():
    def program(rank, world_size):
        return limit_now(None), limit_now(3.0), limit_now(-1.0)

    assert (limit_now(None), limit_now(2.0)) == (DEFAULT_SECONDS, 2.0)
    assert sd.run(program, world_size=1).results == [(None, 3.0, 0.0)]
    assert sd.run(program, world_size=1, timeout=7.0).results == [(7.0, 3.0, 0.0)]
    assert sd.run(program, world_size=1, backend="process").results == [(DEFAULT_SECONDS, 3.0, 0.0)]


def test_threads_wait_for_each_other():
    board = Board()
    late_one = threading.Timer(0.05, board.do, ("set", ("k", b"v"), None))
    late_one.start()
    assert board.do("get", ("k",), 5.0) == b"v"
    late_one.join()


def test_the_error_says_what_was_waited_for():
    text = r"^store\.multi_get\(\['a', 'b'\]\) waited 0\.01 s for 'a', 'b': nobody has set it\. .*set_timeout"
    with pytest.raises(DistStoreError, match=text):
        Board().do("multi_get", (["a", "b"],), 0.01)
    assert said("num_keys", ()) == "store.num_keys()"
    assert isinstance(late("x", [], timedelta(seconds=1).total_seconds()), RuntimeError)


def test_a_key_that_has_gone_again_is_waited_for_again():
    store = HashStore()

    def program(rank, world_size):
        if rank == 0:
            store.wait(["a", "b"])
            return sd.current_time()
        for operation, *arguments in (("set", "b", ""), ("delete_key", "b"), ("set", "a", ""), ("set", "b", "")):
            sd.sleep(1.0)
            getattr(store, operation)(*arguments)
        return None

    assert sd.run(program, world_size=2).results[0] == pytest.approx(4.0, abs=1e-4)
