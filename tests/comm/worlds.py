"""A transport for tests: all ranks of a group in one thread, no clock."""

from collections import defaultdict, deque

from simdist.comm.reduce_op import combine_into


class Mail:
    """The messages under way between the ranks of one group."""

    def __init__(self):
        self.sent = defaultdict(deque)
        self.log = []


class Post:
    """A transport whose receives wait by yielding to the other ranks: each rank is a generator of its own steps."""

    def __init__(self, mail, rank, size):
        self.mail, self.rank, self.size = mail, rank, size

    def send(self, chunk, peer):
        self.mail.log.append((self.rank, peer, chunk.nbytes))
        self.mail.sent[self.rank, peer].append(chunk.copy())

    def try_receive(self, chunk, peer, combine):
        waiting = self.mail.sent[peer, self.rank]
        if not waiting:
            return False
        combine_into(chunk, waiting.popleft(), combine, peer < self.rank)
        return True


def run_steps(algorithm, chunks, root=0, combine=None, divisor=0):
    """Run an algorithm on all ranks (``chunks[rank]``: that rank's list or dict of chunks); the log of messages."""
    size = len(chunks)
    mail = Mail()
    programs = [_rank(algorithm, Post(mail, r, size), chunks[r], root, combine, divisor) for r in range(size)]
    alive = list(range(size))
    for _ in range(10 * size * size + 10):
        alive = [r for r in alive if next(programs[r], "done") != "done"]
        if not alive:
            break
    assert not alive, "an algorithm blocks itself"
    assert not any(mail.sent.values()), "messages that nobody took"
    return mail.log


def _rank(algorithm, post, chunks, root, combine, divisor):
    for send, recv, fold, finish in algorithm.steps(post.rank, post.size, root):
        if send is not None:
            post.send(chunks[send.chunk], send.peer)
        while recv is not None and not post.try_receive(chunks[recv.chunk], recv.peer, combine if fold else None):
            yield
        if finish is not None and divisor:
            chunks[finish] /= divisor
        yield
