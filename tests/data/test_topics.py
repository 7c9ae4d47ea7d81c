"""Is the text real, and does y follow x?"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from simdist.data import DataError, decode, encode, text, text_digest, text_vocab, topics
from simdist.tensor import Tensor


def values(x: Tensor) -> np.ndarray:
    """The numpy array inside."""
    assert isinstance(x, Tensor)
    return x.numpy()


def test_the_vocabulary_is_sorted_and_without_repeats() -> None:
    vocab = text_vocab()
    assert list(vocab) == sorted(set(vocab))
    assert 80 < len(vocab) < 300
    assert "a" in vocab
    assert "\n" in vocab


def test_the_digest_says_which_text_it_is() -> None:
    whole = topics._text()
    assert len(whole) > 100_000
    assert text_digest() == hashlib.sha256(whole.encode()).hexdigest()


def test_ids_and_characters_are_the_same_text() -> None:
    assert decode(encode('The "del" statement\n')) == 'The "del" statement\n'
    assert encode(text_vocab()).tolist() == list(range(len(text_vocab())))
    assert encode("").shape == (0,)


def test_a_character_that_the_text_does_not_have() -> None:
    with pytest.raises(DataError, match=r"the character '\\x00' is not in text_vocab\(\)"):
        encode("a\x00")


def test_y_is_x_one_character_later() -> None:
    for x, y in text(4, 32, steps=5):
        assert values(x).shape == values(y).shape == (4, 32)
        assert values(x).dtype == values(y).dtype == np.int64
        assert (values(x)[:, 1:] == values(y)[:, :-1]).all()
        for row, after in zip(values(x), values(y), strict=True):
            assert decode(row) + decode(after[-1:]) in topics._text()


def test_an_epoch_shows_each_block_once() -> None:
    size = 4096
    seen = [decode(row) for x, _ in text(1, size) for row in values(x)]
    count = (len(topics._text()) - 1) // size
    assert len(seen) == count
    assert set(seen) == {topics._text()[i * size : (i + 1) * size] for i in range(count)}


def test_the_ranks_batches_together_are_the_batch_of_one() -> None:
    (x, y), *_ = text(10, 16, steps=1, seed=3)
    parts = [next(text(10, 16, rank=rank, world_size=3, steps=1, seed=3)) for rank in range(3)]
    assert [len(values(part[0])) for part in parts] == [4, 3, 3]
    assert (np.concatenate([values(part[0]) for part in parts]) == values(x)).all()
    assert (np.concatenate([values(part[1]) for part in parts]) == values(y)).all()


def test_seed_and_epoch_choose_the_order() -> None:
    first = {key: values(next(text(4, 16, **dict(key)))[0]).tobytes() for key in [(), (("seed", 1),), (("epoch", 1),)]}
    assert len(set(first.values())) == 3


@pytest.mark.parametrize("block_size", [0, -1, 1.5, "8", True, 10**9])
def test_a_block_that_cannot_be(block_size: object) -> None:
    with pytest.raises(DataError) as error:
        text(4, block_size)  # type: ignore[arg-type]
    assert str(error.value).startswith("text: block_size must be an integer in 1..")
    assert str(error.value).endswith(f", got {block_size!r}.")


def test_a_mistake_is_told_before_the_first_step() -> None:
    with pytest.raises(DataError, match=r"text: rank=2 is out of range: with world_size=2 ranks are 0\.\.1\."):
        text(4, 8, rank=2, world_size=2)
