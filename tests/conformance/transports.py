"""Transports of other kinds than queues: each is a way in which one could be written."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import defaultdict, deque
from pathlib import Path

import numpy as np

# -- files: a message is a file; its number in its name keeps the order ------------------------------------------------------


class Arrival:
    def __init__(self, path, place):
        self.path, self.place = path, place

    def wait(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        while self.place is not None:
            try:
                self.place[:] = np.fromfile(self.path, np.uint8)
            except FileNotFoundError:
                if end is not None and time.monotonic() > end:
                    raise TimeoutError from None
                time.sleep(0.0005)
            else:
                self.path.unlink()
                self.place = None


class Done:
    def wait(self, timeout=None):
        return


class FileTransport:
    """Works between processes and machines that share a disk."""

    def __init__(self, rank, size, directory):
        self.rank, self.size, self.directory = rank, size, Path(directory)
        self.numbers, self.lock = defaultdict(int), threading.Lock()

    def path(self, src, dst, tag):
        with self.lock:
            number = self.numbers[src, dst, tag]
            self.numbers[src, dst, tag] += 1
        return self.directory / "-".join(map(str, (src, dst, *tag, number)))

    def isend(self, buf, dst, tag):
        path = self.path(self.rank, dst, tag)
        hidden = path.with_suffix(".part")
        buf.tofile(hidden)
        os.rename(hidden, path)  # it appears whole
        return Done()

    def irecv(self, buf, src, tag):
        return Arrival(self.path(src, self.rank, tag), buf)


# -- rendezvous: nothing is kept; the receiver copies straight from the sender's array ----------------------------------------


class Half:
    """One side of a message: it is there, and waits for the other side."""

    def __init__(self, buf):
        self.buf, self.done = buf, threading.Event()

    def wait(self, timeout=None):
        if not self.done.wait(timeout):
            raise TimeoutError


class Board:
    """Sends and receives that have not met, by (source, destination, tag)."""

    def __init__(self):
        self.waiting, self.lock = defaultdict(deque), threading.Lock()

    def post(self, half, key, sends):
        with self.lock:
            others = self.waiting[key, not sends]
            if not others:
                self.waiting[key, sends].append(half)
                return half
            other = others.popleft()
        source, target = (half, other) if sends else (other, half)
        target.buf[:] = source.buf
        half.done.set()
        other.done.set()
        return half


class RendezvousTransport:
    def __init__(self, rank, size, board):
        self.rank, self.size, self.board = rank, size, board

    def isend(self, buf, dst, tag):
        return self.board.post(Half(buf), (self.rank, dst, tag), True)

    def irecv(self, buf, src, tag):
        return self.board.post(Half(buf), (src, self.rank, tag), False)


# -- lazy: bytes go through a socket, and only while somebody waits -------------------------------------------------------------


class LazySend:
    def __init__(self, sock, lock, turns, data):
        self.sock, self.lock, self.turns, self.data = sock, lock, turns, memoryview(data)
        turns.append(self)

    def wait(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        while self.data:
            with self.lock:
                while self.turns and self.turns[0].push():
                    self.turns.popleft()
            if self.data:
                if end is not None and time.monotonic() > end:
                    raise TimeoutError
                time.sleep(0.0005)

    def push(self):
        """Give the socket what it takes; whether all is gone."""
        try:
            while self.data:
                self.data = self.data[self.sock.send(self.data) :]
        except BlockingIOError:
            return False
        return True


class LazyReceive:
    def __init__(self, transport, buf, src, tag):
        self.transport, self.buf, self.src, self.tag = transport, buf, src, tag
        self.done = False
        transport.posted[src, tag].append(self)

    def wait(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        while not self.done:
            self.transport.read(self.src)
            if not self.done:
                if end is not None and time.monotonic() > end:
                    raise TimeoutError
                time.sleep(0.0005)


class LazyTransport:
    """A socket for each pair; a message is its tag, its size, its bytes. Nothing moves by itself."""

    def __init__(self, rank, size, sockets):
        self.rank, self.size, self.sockets = rank, size, sockets
        self.posted, self.arrived = defaultdict(deque), defaultdict(deque)
        self.sending = {peer: threading.Lock() for peer in sockets}
        self.reading = {peer: threading.Lock() for peer in sockets}
        self.turns = {peer: deque() for peer in sockets}
        self.bytes = {peer: bytearray() for peer in sockets}

    def isend(self, buf, dst, tag):
        head = np.array([*tag, len(buf)], np.int64).tobytes()
        with self.sending[dst]:
            return LazySend(self.sockets[dst], self.sending[dst], self.turns[dst], head + buf.tobytes())

    def irecv(self, buf, src, tag):
        with self.reading[src]:
            return LazyReceive(self, buf, src, tag)

    def read(self, src):
        with self.reading[src]:
            try:
                while data := self.sockets[src].recv(1 << 20):
                    self.bytes[src] += data
            except BlockingIOError:
                pass
            got = self.bytes[src]
            while len(got) >= 32:
                *tag, size = np.frombuffer(got[:32], np.int64).tolist()
                if len(got) < 32 + size:
                    break
                self.arrived[src, tuple(tag)].append(bytes(got[32 : 32 + size]))
                del got[: 32 + size]
            for key, posted in list(self.posted.items()):
                while key[0] == src and posted and self.arrived[key]:
                    receive = posted.popleft()
                    receive.buf[:] = np.frombuffer(self.arrived[key].popleft(), np.uint8)
                    receive.done = True

    def close(self):
        for sock in self.sockets.values():
            sock.close()


def lazy(size):
    ends = [{} for _ in range(size)]
    for a in range(size):
        for b in range(a):
            ends[a][b], ends[b][a] = socket.socketpair()
            for sock in (ends[a][b], ends[b][a]):
                sock.setblocking(False)
    return [LazyTransport(rank, size, ends[rank]) for rank in range(size)]


def rendezvous(size):
    board = Board()
    return [RendezvousTransport(rank, size, board) for rank in range(size)]
