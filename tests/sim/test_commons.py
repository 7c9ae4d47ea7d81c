"""What simulated ranks share is touched in the order of the clock, however they are executed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simdist as sd
from simdist.backends import context
from simdist.distributed import HashStore
from simdist.errors import DistTimeoutError
from simdist.sim.commons import TOUCH_SECONDS, Commons


def touch(action, ready=None, limit=None):
    return context.current().commons.touch("note", action, ready, limit)


def test_of_several_at_one_time_the_lowest_rank_is_first():
    def program(rank, world_size):
        mine = context.current().commons
        assert isinstance(mine, Commons)
        if rank == 1:
            sd.sleep(1.0)
        touch(lambda: mine.things.setdefault("order", []).append(rank))
        sd.distributed.barrier()
        return list(mine.things["order"]), rank == 1 or sd.current_time() > 1

    assert sd.run(program, world_size=4).results == [([0, 2, 3, 1], True)] * 4


def test_each_touch_takes_a_microsecond_so_that_a_loop_that_asks_ends():
    def program(rank, world_size):
        things = context.current().commons.things
        if rank == 0:
            sd.sleep(2e-4)
            touch(lambda: things.update(go=True))
            return 0
        asked = 1
        while not touch(lambda: things.get("go", False)):
            asked += 1
        return asked

    assert TOUCH_SECONDS == 1e-6
    asked = sd.run(program, world_size=2).results[1]
    assert 200 <= asked <= 202


def test_a_limit_ends_the_waiting_and_the_rank_goes_on():
    def program(rank, world_size):
        with pytest.raises(DistTimeoutError, match="rank 0 at 3 s: note took longer than 3 s"):
            touch(lambda: None, lambda: False, 3.0)
        assert touch(lambda: 7, lambda: True, 0.0) == 7
        return sd.current_time()

    assert sd.run(program, world_size=1).results == [3.0 + TOUCH_SECONDS]


def test_who_was_woken_in_vain_waits_again():
    def program(rank, world_size):
        things = context.current().commons.things
        if rank == 0:
            for n in range(2):
                sd.sleep(1.0)
                touch(lambda n=n: things.setdefault("queue", []).append(n))
            return None
        got = touch(lambda: things["queue"].pop(), lambda: bool(things.get("queue")))
        return got, round(sd.current_time())

    assert sd.run(program, world_size=3).results == [None, (0, 1), (1, 2)]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("sleep"), st.integers(0, 3)),
        st.tuples(st.sampled_from(["set", "delete", "get"]), st.sampled_from("ab")),
        st.tuples(st.just("add"), st.just("n")),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, min_size=2, max_size=5))
def test_any_program_of_notes_sees_the_same_with_lazy_clocks_and_with_strict_ones(programs):
    def program(rank, world_size, store):
        seen = []
        for verb, what in programs[rank]:
            if verb == "sleep":
                sd.sleep(what * 0.5)
            elif verb == "get":
                try:
                    store.wait([what], 1.0)
                    seen.append(store.check([what]))
                except RuntimeError:
                    seen.append("late")
            elif verb == "add":
                seen.append(store.add(what, 1))
            else:
                seen.append(store.delete_key(what) if verb == "delete" else store.set(what, str(rank)))
        return seen, sd.current_time()

    lazy, strict = (sd.run(program, HashStore(), world_size=len(programs), strict=strict) for strict in (False, True))
    assert lazy.results == strict.results
    assert [tuple(s) for s in lazy.trace] == [tuple(s) for s in strict.trace]


def test_the_critical_path_leads_through_who_has_set_the_key():
    def program(rank, world_size, store):
        if rank == 1:
            sd.compute(seconds=2e-3)
            store.set("done", "")
        store.wait(["done"])

    run = sd.run(program, HashStore(), world_size=3)
    steps = [(step.rank, step.kind) for step in run.critical_path().steps]
    assert (1, "compute") in steps
    assert [s.details["for"] for s in run.trace if s.kind == "wait"] == [[1], [1]]
