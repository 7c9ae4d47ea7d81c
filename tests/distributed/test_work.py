from simdist.distributed.work import Work


class Inner:
    def __init__(self):
        self.waits = 0

    def wait(self):
        self.waits += 1


class World:
    def __init__(self):
        self.complete = False

    def is_completed(self, work):
        return self.complete


def test_the_result_is_delivered_once_at_the_first_wait_or_seen_completion():
    world, inner, delivered = World(), Inner(), []
    work = Work(world, inner, lambda: delivered.append(1))
    assert not work.is_completed()
    assert delivered == []
    world.complete = True
    assert work.is_completed()
    assert delivered == [1]
    assert work.wait()
    assert delivered == [1]
    assert inner.waits == 2
