from simdist.sim.waiting import Waiting


def test_the_ranks_may_be_known_later():
    missing = [3, 1]
    waiting = Waiting("barrier", lambda: tuple(missing), None)
    assert waiting.ranks() == (3, 1)
    missing.pop()
    assert waiting.ranks() == (3,)
    assert Waiting("recv", (2,)).ranks() == (2,)
    assert Waiting("recv").place(0) is None
