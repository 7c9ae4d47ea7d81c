"""What a listener hears, and what memory it is told of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from simdist import nn, optim
from simdist.tensor import checkpoint, no_grad, observe, tensor


class Bytes:
    def __init__(self, books: dict[str, int], nbytes: int, kind: str) -> None:
        self.books, self.nbytes, self.kind = books, nbytes, kind
        books[kind] = books.get(kind, 0) + nbytes

    def reclassify(self, kind: str) -> None:
        raise AssertionError("not needed here")

    def __del__(self) -> None:
        self.books[self.kind] -= self.nbytes


class Book:
    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []
        self.held: dict[str, int] = {}

    def primitive(self, *what: Any) -> None:
        self.heard.append(what)

    def allocate(self, nbytes: int, kind: str) -> Bytes:
        assert kind in observe.MEMORY_KINDS
        return Bytes(self.held, nbytes, kind)


@pytest.fixture
def book() -> Iterator[Book]:
    it = Book()
    token = observe.listener.set(it)
    yield it
    observe.listener.reset(token)


def test_a_step_is_announced(book: Book) -> None:
    model = nn.MLP([5, 4, 3])
    opt = optim.SGD(model.parameters(), lr=0.1)
    loss = nn.functional.cross_entropy(model(np.ones((2, 5), np.float32)), np.array([0, 1]))
    assert [(h[0], h[1], h[5]) for h in book.heard] == [
        ("linear", "forward", (2, 4, 5)),
        ("relu", "forward", None),
        ("linear", "forward", (2, 3, 4)),
        ("cross_entropy", "forward", None),
    ]
    book.heard.clear()
    loss.backward()
    assert [(h[0], h[1], h[5]) for h in book.heard] == [
        ("cross_entropy", "backward", None),
        ("linear", "backward", (3, 4, 2)),
        ("linear", "backward", (2, 4, 3)),
        ("linear", "backward", None),
        ("relu", "backward", None),
        ("linear", "backward", (4, 5, 2)),
        ("linear", "backward", None),
    ]
    book.heard.clear()
    opt.step()
    size = 4 * 5 + 4 + 3 * 4 + 3
    assert book.heard == [("sgd", "optimizer", 2.0 * size, 3 * 4 * size, np.dtype(np.float32), None)]


def test_memory_comes_back(book: Book) -> None:
    model = nn.MLP([5, 4, 3])
    opt = optim.Adam(model.parameters())
    size = 4 * (4 * 5 + 4 + 3 * 4 + 3)
    x = np.ones((2, 5), np.float32)
    for _ in range(2):
        loss = nn.functional.cross_entropy(model(x), np.array([0, 1]))
        assert book.held["parameters"] == size
        # kept: the hidden layer after relu, probabilities, the loss; row numbers and targets (int64); the logits are gone
        assert book.held["activations"] == 4 * (2 * 4 + 2 * 3 + 1) + 8 * (2 + 2)
        opt.zero_grad()
        loss.backward()
        assert book.held["gradients"] == size and book.held["workspace"] == 0
        opt.step()
        assert book.held["optimizer"] == 2 * size
        del loss
        assert book.held["activations"] == 0
    del model, opt
    assert all(value == 0 for value in book.held.values())


def test_views_share_their_bytes(book: Book) -> None:
    t = tensor(np.ones((4, 4), np.float32))
    views = [t.T, t[1:], t.reshape(16), t.detach()]
    assert book.held == {"inputs": 64} and all(v.token is t.token for v in views)
    del t
    assert book.held == {"inputs": 64}
    del views
    assert book.held == {"inputs": 0}


def test_off_the_tape_results_are_workspace(book: Book) -> None:
    t = tensor([1.0], requires_grad=True)
    with no_grad():
        y = t * 2
    assert book.held["workspace"] == 4 and y.requires_grad is False
    z = t * 2
    assert book.held["activations"] == 4 and z.requires_grad


def test_checkpointing_holds_less_and_computes_more(book: Book) -> None:
    net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 8))
    x = np.ones((4, 8), np.float32)
    plain = net(x).sum()
    full = book.held["activations"]
    del plain
    book.heard.clear()
    saved = checkpoint(net, x).sum()
    assert book.held["activations"] < full / 3
    forward = len(book.heard)
    saved.backward()
    assert sum(h[1] == "forward" for h in book.heard) == forward + 3
    del saved
    assert book.held["activations"] == 0


def test_without_listener_nothing_is_counted() -> None:
    t = tensor([1.0], requires_grad=True) * 2
    assert t.token is None and t.node is not None and t.node.work is None
