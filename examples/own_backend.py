"""A backend of your own: ranks are threads, and a message is an array in a queue.

python examples/own_backend.py
"""

import queue

import numpy as np

import simdist as sd
import simdist.distributed as dist


class Delivery:
    """A send that is done, or a receive under way: its array waits in a box."""

    def __init__(self, box=None, place=None):
        self.box, self.place = box, place

    def wait(self, timeout=None):
        if self.box is not None:
            try:
                self.place[:] = self.box.get(timeout=timeout)
            except queue.Empty:
                raise TimeoutError from None
            self.box = None


class Boxes(dict):
    """A box for each (source, destination, tag), made when it is first used."""

    def __missing__(self, key):
        return self.setdefault(key, queue.SimpleQueue())


class QueueTransport:
    """One rank's end of the boxes."""

    def __init__(self, rank, size, boxes):
        self.rank, self.size, self.boxes = rank, size, boxes

    def isend(self, buf, dst, tag):
        self.boxes[self.rank, dst, tag].put(buf.copy())  # a copy: the sender may change its array now
        return Delivery()

    def irecv(self, buf, src, tag):
        return Delivery(self.boxes[src, self.rank, tag], buf)


def queues(size):
    """The ends of all ranks; new boxes for each run, so that nothing of another run is in them."""
    boxes = Boxes()
    return [QueueTransport(rank, size, boxes) for rank in range(size)]


def train(rank, world_size):
    x = np.full(4, float(rank))
    dist.all_reduce(x)
    return x.tolist()


sd.register_backend("queues", queues)

if __name__ == "__main__":
    run = sd.run(train, world_size=4, backend="queues")
    print(run.results[0], f"on every rank, by backend {run.backend!r}")
